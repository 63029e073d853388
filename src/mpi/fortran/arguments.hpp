// Arguments on their way from Fortran to C and back. Each class is one kind of argument of one call: made from what Fortran
// passes, it converts to what the C function takes, and its destructor, which runs when the call is over, hands results back.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <memory>

#include "mpi/fortran/handles.hpp"
#include "mpi/fortran/integer.hpp"
#include "mpi/fortran/sentinels.hpp"

namespace heddle::fortran {

inline void give(Fint* ierror, int code) {
  if (ierror) *ierror = code;
}

inline int integer(const Fint* value) { return to_int(*value); }

// The length of an array.
template <class Integer>
std::ptrdiff_t size_of(const Integer* value) {
  return static_cast<std::ptrdiff_t>(*value);
}

inline bool fits(const Fint* value) { return to_int(*value) == *value; }
inline bool fits(const Fint* values, std::ptrdiff_t size) {
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    if (!fits(values + i)) return false;
  }
  return true;
}
inline int truth(const Fint* value) { return *value != logical_false; }

// As many elements as an array argument has; a few without asking for memory.
template <class T>
class Array {
 public:
  explicit Array(std::ptrdiff_t size) : size_(size > 0 ? size : 0), many_(size_ > few ? new T[size_] : nullptr) {}
  T* data() { return many_ ? many_.get() : few_; }
  T& operator[](std::ptrdiff_t i) { return data()[i]; }
  std::ptrdiff_t size() const { return size_; }

 private:
  static constexpr std::ptrdiff_t few = 16;
  std::ptrdiff_t size_;
  T few_[few];
  std::unique_ptr<T[]> many_;
};

// ---- integers and logicals -----------------------------------------------------------------------------------------

class IntOut {
 public:
  explicit IntOut(Fint* to) : to_(to) {}
  IntOut(const IntOut&) = delete;
  ~IntOut() { *to_ = value_; }
  operator int*() { return &value_; }

 private:
  Fint* to_;
  int value_ = 0;
};

class IntInOut {
 public:
  explicit IntInOut(Fint* at) : at_(at), value_(to_int(*at)) {}
  IntInOut(const IntInOut&) = delete;
  ~IntInOut() { *at_ = value_; }
  operator int*() { return &value_; }

 private:
  Fint* at_;
  int value_;
};

class Ints {
 public:
  Ints(const Fint* from, std::ptrdiff_t size) : values_(size) {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) values_[i] = to_int(from[i]);
  }
  operator const int*() { return values_.data(); }
  using Triple = int[3];
  operator Triple*() { return reinterpret_cast<Triple*>(values_.data()); }

 private:
  Array<int> values_;
};

class IntsInOut {
 public:
  IntsInOut(Fint* at, std::ptrdiff_t size) : at_(at), values_(size) {
    for (std::ptrdiff_t i = 0; i < size; ++i) values_[i] = to_int(at[i]);
  }
  IntsInOut(const IntsInOut&) = delete;
  ~IntsInOut() {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) at_[i] = values_[i];
  }
  operator int*() { return values_.data(); }

 private:
  Fint* at_;
  Array<int> values_;
};

// MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY stand for themselves.
class Weights {
 public:
  Weights(const Fint* from, std::ptrdiff_t size) : sentinel_(weights_sentinel(from)), values_(sentinel_ ? 0 : size) {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) values_[i] = to_int(from[i]);
  }
  operator const int*() { return sentinel_ ? sentinel_ : values_.data(); }

 private:
  int* sentinel_;
  Array<int> values_;
};

class WeightsOut {
 public:
  WeightsOut(Fint* to, std::ptrdiff_t size) : to_(to), sentinel_(weights_sentinel(to)), values_(sentinel_ ? 0 : size) {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) values_[i] = to_int(to_[i]);
  }
  WeightsOut(const WeightsOut&) = delete;
  ~WeightsOut() {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) to_[i] = values_[i];
  }
  operator int*() { return sentinel_ ? sentinel_ : values_.data(); }

 private:
  Fint* to_;
  int* sentinel_;
  Array<int> values_;
};

// Positions in an array: Fortran counts them from 1.
class IndexOut {
 public:
  explicit IndexOut(Fint* to) : to_(to) {}
  IndexOut(const IndexOut&) = delete;
  ~IndexOut() { *to_ = value_ == MPI_UNDEFINED ? value_ : value_ + 1; }
  operator int*() { return &value_; }

 private:
  Fint* to_;
  int value_ = MPI_UNDEFINED;
};

class IndicesOut {
 public:
  IndicesOut(Fint* to, std::ptrdiff_t size) : to_(to), values_(size) {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) values_[i] = MPI_UNDEFINED;
  }
  IndicesOut(const IndicesOut&) = delete;
  ~IndicesOut() {
    for (std::ptrdiff_t i = 0; i < values_.size() && values_[i] != MPI_UNDEFINED; ++i) to_[i] = values_[i] + 1;
  }
  operator int*() { return values_.data(); }

 private:
  Fint* to_;
  Array<int> values_;
};

class LogicalOut {
 public:
  explicit LogicalOut(Fint* to) : to_(to) {}
  LogicalOut(const LogicalOut&) = delete;
  ~LogicalOut() { *to_ = value_ ? logical_true : logical_false; }
  operator int*() { return &value_; }

 private:
  Fint* to_;
  int value_ = 0;
};

class Logicals {
 public:
  Logicals(const Fint* from, std::ptrdiff_t size) : values_(size) {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) values_[i] = truth(from + i);
  }
  operator const int*() { return values_.data(); }

 private:
  Array<int> values_;
};

class LogicalsOut {
 public:
  LogicalsOut(Fint* to, std::ptrdiff_t size) : to_(to), values_(size) {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) values_[i] = truth(to_ + i);
  }
  LogicalsOut(const LogicalsOut&) = delete;
  ~LogicalsOut() {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) to_[i] = values_[i] ? logical_true : logical_false;
  }
  operator int*() { return values_.data(); }

 private:
  Fint* to_;
  Array<int> values_;
};

// ---- addresses ---------------------------------------------------------------------------------------------------

// The TYPE(C_PTR) of a buffer that was attached: C's MPI_BUFFER_AUTOMATIC is the address of Fortran's (MPI 5.0, section 3.6).
class DetachedOut {
 public:
  explicit DetachedOut(void* to) : to_(static_cast<void**>(to)), value_(*to_) {}
  DetachedOut(const DetachedOut&) = delete;
  ~DetachedOut() { *to_ = address_of_buffer(value_); }
  operator void*() { return &value_; }

 private:
  void** to_;
  void* value_;
};

// ---- handles -------------------------------------------------------------------------------------------------------

// A call that fails leaves Fortran's variable as it was.
template <class Handle>
class HandleOut {
 public:
  explicit HandleOut(Fint* to) : to_(to) {}
  HandleOut(const HandleOut&) = delete;
  ~HandleOut() {
    if (value_) *to_ = number(value_);
  }
  operator Handle*() { return &value_; }

 private:
  Fint* to_;
  Handle value_ = nullptr;
};

template <class Handle>
class HandleInOut {
 public:
  explicit HandleInOut(Fint* at) : at_(at), before_(handle<Handle>(*at)), value_(before_) {}
  HandleInOut(const HandleInOut&) = delete;
  ~HandleInOut() {
    if (value_ != before_) *at_ = number(value_);
  }
  operator Handle*() { return &value_; }

 private:
  Fint* at_;
  Handle before_, value_;
};

template <class Handle>
class Handles {
 public:
  Handles(const Fint* from, std::ptrdiff_t size) : values_(size) {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) values_[i] = handle<Handle>(from[i]);
  }
  operator const Handle*() { return values_.data(); }

 private:
  Array<Handle> values_;
};

template <class Handle>
class HandlesInOut {
 public:
  HandlesInOut(Fint* at, std::ptrdiff_t size) : at_(at), values_(size), before_(size) {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) before_[i] = values_[i] = handle<Handle>(at[i]);
  }
  HandlesInOut(const HandlesInOut&) = delete;
  ~HandlesInOut() {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) {
      if (values_[i] != before_[i]) at_[i] = number(values_[i]);
    }
  }
  operator Handle*() { return values_.data(); }

 private:
  Fint* at_;
  Array<Handle> values_, before_;
};

template <class Handle>
class HandlesOut {
 public:
  HandlesOut(Fint* to, std::ptrdiff_t size) : to_(to), values_(size) {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) values_[i] = nullptr;
  }
  HandlesOut(const HandlesOut&) = delete;
  ~HandlesOut() {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) {
      if (values_[i]) to_[i] = number(values_[i]);
    }
  }
  operator Handle*() { return values_.data(); }

 private:
  Fint* to_;
  Array<Handle> values_;
};

// ---- statuses ------------------------------------------------------------------------------------------------------

inline constexpr std::ptrdiff_t status_size = 8;  // INTEGERs; an MPI_Status is as many ints
static_assert(sizeof(MPI_Status) == status_size * sizeof(int));

void to_c(const Fint* from, MPI_Status& to);
void to_fortran(const MPI_Status& from, Fint* to);

// `read`: C reads what is there, too.
class StatusOut {
 public:
  explicit StatusOut(Fint* at, bool read = false) : at_(is_status_ignore(at) ? nullptr : at) {
    if (at_ && read) to_c(at_, value_);
    if (at_ && !read) value_.MPI_ERROR = to_int(at_[2]);  // which only some functions set
  }
  StatusOut(const StatusOut&) = delete;
  ~StatusOut() {
    if (at_) to_fortran(value_, at_);
  }
  operator MPI_Status*() { return at_ ? &value_ : MPI_STATUS_IGNORE; }

 private:
  Fint* at_;
  MPI_Status value_ = {};
};

class StatusIn {
 public:
  explicit StatusIn(const Fint* from) : ignored_(is_status_ignore(from)) {
    if (!ignored_) to_c(from, value_);
  }
  operator const MPI_Status*() const { return ignored_ ? MPI_STATUS_IGNORE : &value_; }

 private:
  bool ignored_;
  MPI_Status value_ = {};
};

class StatusesOut {
 public:
  StatusesOut(Fint* at, std::ptrdiff_t size) : at_(is_status_ignore(at) ? nullptr : at), values_(at_ ? size : 0) {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) to_c(at_ + i * status_size, values_[i]);
  }
  StatusesOut(const StatusesOut&) = delete;
  ~StatusesOut() {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) to_fortran(values_[i], at_ + i * status_size);
  }
  operator MPI_Status*() { return at_ ? values_.data() : MPI_STATUSES_IGNORE; }

 private:
  Fint* at_;
  Array<MPI_Status> values_;
};

// ---- characters ----------------------------------------------------------------------------------------------------

// Without the blanks at its end.
class String {
 public:
  String(const char* from, std::size_t length) : text_(static_cast<std::ptrdiff_t>(length) + 1) {
    while (length > 0 && from[length - 1] == ' ') --length;
    std::memcpy(text_.data(), from, length);
    text_[static_cast<std::ptrdiff_t>(length)] = '\0';
  }
  operator const char*() { return text_.data(); }
  operator char*() { return text_.data(); }

 private:
  Array<char> text_;
};

// Without the blanks at both ends.
class Word : public String {
 public:
  Word(const char* from, std::size_t length) : Word(from, length, leading(from, length)) {}

 private:
  Word(const char* from, std::size_t length, std::size_t blanks) : String(from + blanks, length - blanks) {}
  static std::size_t leading(const char* from, std::size_t length) {
    std::size_t blanks = 0;
    while (blanks < length && from[blanks] == ' ') ++blanks;
    return blanks;
  }
};

// Filled with blanks. `most`: what C may write, its end included. If C writes nothing, Fortran's variable stays
// unchanged.
class StringOut {
 public:
  StringOut(char* to, std::size_t length, std::ptrdiff_t most) : to_(to), length_(length), text_(most + 1) {
    text_[0] = unwritten;
    text_[1] = '\0';
  }
  StringOut(const StringOut&) = delete;
  ~StringOut() {
    if (text_[0] == unwritten) return;
    const std::size_t size = strnlen(text_.data(), static_cast<std::size_t>(text_.size()));
    std::memcpy(to_, text_.data(), size < length_ ? size : length_);
    if (size < length_) std::memset(to_ + size, ' ', length_ - size);
  }
  operator char*() { return text_.data(); }

 private:
  static constexpr char unwritten = '\1';
  char* to_;
  std::size_t length_;
  Array<char> text_;
};

}  // namespace heddle::fortran
