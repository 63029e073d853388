// The assert arguments of synchronization calls (MPI 5.0, section 12.5.5).
#pragma once

#include <mpi.h>

#include "objects/object/error.hpp"

namespace heddle::rma {

// Checks that this call allows `assert`. `known` are its assertions.
inline Error check_assertion(int assert, int known) {
  if ((assert & ~known) == 0) return success;
  return fail(MPI_ERR_ASSERT, "assert = %d has bits that are invalid for this call, which supports %d", assert, known);
}

}  // namespace heddle::rma
