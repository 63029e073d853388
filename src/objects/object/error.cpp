#include "objects/object/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <new>

#include "base/threads/per_thread.hpp"
#include "base/threads/thread_ref.hpp"

namespace heddle {

namespace {

Error failure(Comm* comm, int error_class, const char* format, std::va_list arguments) {
  ErrorDetail& detail = error_detail();
  std::vsnprintf(detail.text, sizeof detail.text, format, arguments);
  detail.comm = comm;
  return Error(error_class);
}

}  // namespace

namespace {

constinit thread_local ErrorDetail* spare_of_thread = nullptr;

// A few exist from the start for kernel threads that have no memory for their own. Such a thread keeps its detail; the
// last is shared by all later ones.
ErrorDetail& spare_detail() {
  static constinit std::array<ErrorDetail, 8> spares{};
  static constinit std::atomic<std::size_t> given{0};
  if (spare_of_thread == nullptr)
    spare_of_thread = &spares[std::min(given.fetch_add(1, std::memory_order_relaxed), spares.size() - 1)];
  return *spare_of_thread;
}

}  // namespace

// On the heap, and only for threads that fail: the library's thread-local storage lies in the few bytes that the
// loader keeps free for libraries which are opened later.
ErrorDetail& error_detail() {
  if (spare_of_thread != nullptr && !threads::user_level()) [[unlikely]]
    return *spare_of_thread;
  try {
    return threads::own<ErrorDetail>();
  } catch (const std::bad_alloc&) {
    return spare_detail();
  }
}

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
