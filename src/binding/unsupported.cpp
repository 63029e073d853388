#include "binding/unsupported.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "object/error.hpp"
#include "object/raise.hpp"

namespace heddle::binding {

int unsupported(Function function, Object* owner, const char* version) {
  const std::string where = place_of(owner);  // before the handler is called, which may free the owner
  const int code =
      raise(function, owner, fail(MPI_ERR_UNSUPPORTED_OPERATION, "not supported yet; planned for version %s", version));
  // Many a program looks at no error code.
  static std::atomic<bool> named[function_count];
  if (!named[static_cast<int>(function)].exchange(true, std::memory_order_relaxed)) {
    std::fprintf(stderr, "heddle: %s is not supported yet; planned for version %s (called %s)\n", name(function),
                 version, where.c_str());
  }
  return code;
}

}  // namespace heddle::binding
