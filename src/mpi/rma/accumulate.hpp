// Operations that combine with the target's data: MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op,
// MPI_Compare_and_swap (MPI 5.0, section 12.3.4).
//
// They are atomic for each element with respect to each other, whatever their datatypes and operations: the origin does
// the work itself while it holds the target's mutex. A long operation takes the mutex anew for each piece, so that it
// does not exclude the others for long.
#pragma once

#include "mpi/rma/reach/target_region.hpp"
#include "mpi/rma/shared_state.hpp"
#include "objects/object/error.hpp"
#include "objects/op/op.hpp"

namespace heddle::rma {

// The predefined datatype that all elements of `type` have; null if there is none.
const Datatype* element_type(const Datatype& type);

// Checks that operation and datatypes fit together. Then `element` is the common one.
Error check_combination(const Op& op, const Layout* origin, const Layout& target, const Layout* result,
                        const Datatype*& element);

// target = origin op target, and before that result = target, each where it is not null. MPI_NO_OP takes no origin.
Error accumulate(SharedMutex& atomicity, const Op& op, const Layout* origin, const TargetRegion& target,
                 const Layout* result);

// result = target, and then target = origin if target equals `compare`. One element of this predefined type each.
Error compare_and_swap(SharedMutex& atomicity, const void* origin, const void* compare, void* result,
                       const TargetRegion& target);

}  // namespace heddle::rma
