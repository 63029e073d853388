#include "object/error.hpp"

#include <cstdarg>
#include <cstdio>

#include "threads/per_thread.hpp"

namespace heddle {

namespace {

Error failure(Comm* comm, int error_class, const char* format, std::va_list arguments) {
  ErrorDetail& detail = error_detail();
  std::vsnprintf(detail.text, sizeof detail.text, format, arguments);
  detail.comm = comm;
  return Error(error_class);
}

}  // namespace

// On the heap, and only for threads that fail: the library's thread-local storage lies in the few bytes that the
// loader keeps free for libraries which are opened later.
ErrorDetail& error_detail() { return threads::own<ErrorDetail>(); }

Error fail(int error_class, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const Error error = failure(nullptr, error_class, format, arguments);
  va_end(arguments);
  return error;
}

Error fail_on(Comm& comm, int error_class, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const Error error = failure(&comm, error_class, format, arguments);
  va_end(arguments);
  return error;
}

}  // namespace heddle
