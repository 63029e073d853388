// The requests that a thread waits for: all of them, or any one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "objects/object/request.hpp"

namespace heddle::engine {

class Vni;

class WaitSet {
 public:
  // Null entries do not count.
  WaitSet(Request* const* requests, std::size_t n, bool any) : requests_(requests), n_(n), any_(any) {}

  bool satisfied() {
    if (any_) {
      for (std::size_t i = 0; i < n_; ++i)
        if (requests_[i] != nullptr && is_done(*requests_[i])) return true;
      return false;
    }
    while (first_ < n_ && (requests_[first_] == nullptr || is_done(*requests_[first_]))) ++first_;
    return first_ == n_;
  }

  bool any() const { return any_; }
  // For a set that is not satisfied: the first request that a wait for all still needs, or for a wait for any each request in turn.
  const Request* next() const {
    std::size_t i = any_ ? turn_++ % n_ : first_;
    while (requests_[i] == nullptr) i = (i + 1) % n_;
    return requests_[i];
  }

  // The requests that a wait for all still needs, or every request of a wait for any. The next call of satisfied() may change them.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = first_; i < n_; ++i)
      if (requests_[i] != nullptr) f(*requests_[i]);
  }
  std::uint32_t size() {
    std::uint32_t size = 0;
    for_each([&](const Request&) { ++size; });
    return size;
  }

 private:
  static bool is_done(const Request& r) { return r.done.load(std::memory_order_acquire) != 0; }

  Request* const* requests_;
  std::size_t n_;
  bool any_;
  std::size_t first_ = 0;         // wait for all: the requests before it are done
  mutable std::size_t turn_ = 0;  // wait for any
};

}  // namespace heddle::engine
