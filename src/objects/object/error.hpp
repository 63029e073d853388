// The result of a failed call: an error class of the standard (MPI 5.0, section 9.4) and one sentence.
//
// Inside the library every function that can fail returns an Error; it is a bare error class, zero for success, so
// passing it on costs nothing: `if (Error e = step()) return e;`. The sentence, and the object whose error handler is
// to be called if it is not the function's own first argument, wait in thread-local storage until the binding picks
// them up (raise.hpp).
#pragma once

#include <mpi.h>

namespace heddle {

struct Comm;
struct Errhandler;

class [[nodiscard]] Error {
 public:
  constexpr Error() = default;
  constexpr explicit Error(int error_class) : class_(error_class) {}

  constexpr int code() const { return class_; }
  constexpr explicit operator bool() const { return class_ != MPI_SUCCESS; }  // true: something went wrong

 private:
  int class_ = MPI_SUCCESS;
};

inline constexpr Error success{};

// The sentence of the last failure on this thread.
struct ErrorDetail {
  char text[512];
  Comm* comm;              // the object with the error handler; null: the first handle of the call decides
  Errhandler* errhandler;  // a reference: the handler of an object that does not exist any more; null: as above

  // The result of this thread's last failed call, and its sentence; MPI_Error_string returns it.
  int returned;
  char returned_text[600];
};
ErrorDetail& error_detail();

// Makes an Error with its sentence: fail(MPI_ERR_RANK, "dest is %d, but the group has %d processes", dest, size).
[[gnu::cold, gnu::noinline, gnu::format(printf, 2, 3)]] Error fail(int error_class, const char* format, ...);

// The same for an error that belongs to a communicator which is not an argument of the call (a failed request's).
[[gnu::cold, gnu::noinline, gnu::format(printf, 3, 4)]] Error fail_on(Comm& comm, int error_class, const char* format,
                                                                      ...);

}  // namespace heddle
