#include "binding/unsupported.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdio>

namespace heddle::binding {

int unsupported(Function function) {
  static std::atomic<bool> named[function_count];
  if (!named[static_cast<int>(function)].exchange(true, std::memory_order_relaxed)) {
    std::fprintf(stderr, "heddle: %s is not supported yet\n", name(function));
  }
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

}  // namespace heddle::binding
