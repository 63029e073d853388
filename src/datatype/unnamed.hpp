// Predefined datatypes without a name: asking twice for the same gives the same handle (MPI 5.0, sections 5.1.11 and
// 19.1.5). They live as long as the process.
#pragma once

#include "datatype/datatype.hpp"

namespace heddle::datatype {

// The Fortran number with these properties (MPI_Type_create_f90_...): an element as `combiner` with `p` and `r` made it.
Datatype& unnamed_f90(int combiner, int p, int r, Element element);

// The pair of a value and an index; null if there are no operations on such pairs.
Datatype* pair_of(const Datatype& value, const Datatype& index);

}  // namespace heddle::datatype
