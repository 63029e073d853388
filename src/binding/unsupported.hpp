// Functions of the standard that have no implementation yet.
#pragma once

#include "binding/functions.hpp"

namespace heddle::binding {

// Says so on stderr, once for each function, and returns MPI_ERR_UNSUPPORTED_OPERATION.
[[gnu::cold, gnu::noinline]] int unsupported(Function function);

}  // namespace heddle::binding
