// The making of derived datatypes.
#pragma once

#include "objects/datatype/contents.hpp"
#include "objects/object/error.hpp"

namespace heddle::datatype {

// A new datatype of these contents, whose types get a reference each. The numbers must be valid (no negative counts);
// make() checks that no bound or size exceeds the range of MPI_Count.
Error make(Contents&& contents, Datatype*& made);

// The layouts of subarray and darray as simpler types. `sizes` and the others are the constructors' arguments in
// their order; the result is the caller's reference.
Error make_subarray_layout(int ndims, const MPI_Count* sizes, const MPI_Count* subsizes, const MPI_Count* starts,
                           int order, const Datatype& old, Datatype*& made);
Error make_darray_layout(int size, int rank, int ndims, const MPI_Count* gsizes, const MPI_Count* distribs,
                         const MPI_Count* dargs, const MPI_Count* psizes, int order, const Datatype& old,
                         Datatype*& made);

}  // namespace heddle::datatype
