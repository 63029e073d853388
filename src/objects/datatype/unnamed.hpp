// Predefined datatypes without a name: two requests for the same one give the same handle (MPI 5.0, section 19.1.5).
// They live as long as the process.
#pragma once

#include "objects/datatype/datatype.hpp"

namespace heddle::datatype {

// The Fortran number with these properties (MPI_Type_create_f90_...): an element as `combiner` with `p` and `r` made it.
Datatype& unnamed_f90(int combiner, int p, int r, Element element);

}  // namespace heddle::datatype
