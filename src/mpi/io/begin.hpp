// How a call on a file begins: which pointer it goes by, and whether the file's mode allows that.
#pragma once

#include <mpi.h>

#include "mpi/io/operation.hpp"
#include "objects/object/error.hpp"
#include "objects/object/file.hpp"

namespace heddle::io {

enum class By { offset, pointer, shared_pointer };

// Everything before the first byte moves: checks, and moves the pointer past what the operation is to access.
Error begin(Operation& operation, By by, MPI_Offset offset = 0);

// The same for an operation that all members call, in the order of their ranks. What is wrong here is kept in the
// operation.
Error begin_in_order(Operation& operation);

}  // namespace heddle::io
