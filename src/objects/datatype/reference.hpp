// A counted reference to a datatype.
#pragma once

#include <utility>

#include "objects/datatype/datatype.hpp"

namespace heddle::datatype {

class Reference {
 public:
  Reference() = default;
  explicit Reference(const Datatype& type) : type_(const_cast<Datatype*>(&type)) { retain(type); }
  Reference(Reference&& other) noexcept : type_(std::exchange(other.type_, nullptr)) {}
  Reference& operator=(Reference&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }
  ~Reference() {
    if (type_ != nullptr) release(*type_);
  }

  // Takes over an existing reference.
  static Reference adopt(Datatype* type) {
    Reference reference;
    reference.type_ = type;
    return reference;
  }

  const Datatype& operator*() const { return *type_; }
  const Datatype* operator->() const { return type_; }
  Datatype* give() { return std::exchange(type_, nullptr); }

 private:
  Datatype* type_ = nullptr;
};

}  // namespace heddle::datatype
