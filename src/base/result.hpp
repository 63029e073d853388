// Result: a value, or the Failure that says why there is none. Functions that can fail return it.
//
// Calls of MPI return an Error (objects/object/error.hpp), an error class in a register. Every other function that starts or
// configures something (a job, a rank, a network, a setting) returns a Result. A failed constructor of a network's end, and code
// that only mpiexec runs, throw. std::bad_alloc and std::system_error cross from where the standard library throws them.
//
//   Result<int> number_in(const char* text) {
//     if (!is_number(text)) return refuse("'%.40s' is not a number", text);
//     return std::atoi(text);
//   }
//   const Result<int> number = number_in(text);
//   if (!number) return number.failure();
//   use(*number);
//
// A Result is true if there is a value; an Error is true if the call failed.
#pragma once

#include <concepts>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace heddle {

struct [[nodiscard]] Failure {
  std::string text;             // one sentence, or the part of it that the caller completes
  bool said_elsewhere = false;  // another rank of the job has the same failure and reports it
};

// Makes a Failure with its sentence.
[[gnu::cold, gnu::noinline, gnu::format(printf, 1, 2)]] inline Failure refuse(const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  std::string text(static_cast<std::size_t>(length > 0 ? length : 0), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  return {.text = std::move(text)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}
  template <class U = T>
  requires(std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, Failure> &&
           !std::same_as<std::remove_cvref_t<U>, Result>) Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}

  explicit operator bool() const { return state_.index() == 0; }

  // Only if the Result is true.
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  // Only if the Result is false.
  const Failure& failure() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Failure> state_;
};

// Done, or the reason why not: `return {};` where the function has done it.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Failure failure) : failure_(std::move(failure)) {}
  template <class T>
  Result(const Result<T>& other) : failure_(other ? std::nullopt : std::optional(other.failure())) {}

  explicit operator bool() const { return !failure_.has_value(); }
  const Failure& failure() const { return *failure_; }

 private:
  std::optional<Failure> failure_;
};

}  // namespace heddle
