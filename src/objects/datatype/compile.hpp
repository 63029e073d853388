// Compiling a datatype, and the life of the result.
#pragma once

#include "objects/datatype/datatype.hpp"

namespace heddle::datatype {

// Sets program, run and dense of a datatype that has contents. Throws std::bad_alloc.
void compile(Datatype& type);

void discard_program(Datatype& type);

}  // namespace heddle::datatype
