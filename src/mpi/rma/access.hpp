// From the arguments of an operation to its place at the target, with all checks: rank, epoch, bounds.
#pragma once

#include "mpi/rma/reach/target_region.hpp"
#include "objects/object/win.hpp"

namespace heddle::rma {

// An operation's description of its target.
struct Wanted {
  int rank;
  MPI_Aint disp;
  MPI_Count count;
  const Datatype& type;
  bool locked = false;  // request-based: within an epoch of locks only
};

Error find_place(Win& win, const Wanted& wanted, TargetRegion& place);

}  // namespace heddle::rma
