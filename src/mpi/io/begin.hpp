// The start of a call on a file: the pointer that it uses, and the check that the file's mode allows that.
#pragma once

#include <mpi.h>

#include "mpi/io/operation.hpp"
#include "objects/object/error.hpp"
#include "objects/object/file.hpp"

namespace heddle::io {

enum class By { offset, pointer, shared_pointer };

// All steps before the first byte moves: checks, and moves the pointer past the operation's range.
Error begin(Operation& operation, By by, MPI_Offset offset = 0);

// The same for an operation that all members call, in the order of their ranks. An error here is stored in the
// operation.
Error begin_in_order(Operation& operation);

}  // namespace heddle::io
