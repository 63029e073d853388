// A group: an ordered set of the job's processes (MPI 5.0, section 7.3). Immutable once made, shared by reference
// count between the user's handles and the communicators built on it.
#pragma once

#include <mpi.h>

#include <vector>

#include "object/object.hpp"

namespace heddle {

struct Group final : Object {
  static constexpr Kind object_kind = Kind::group;
  Group() : Object(Kind::group) {}

  int size = 0;
  int rank = MPI_UNDEFINED;      // of the process that owns this object
  std::vector<int> world_ranks;  // by group rank; empty if the identity (then world rank == group rank)

  int world_rank(int r) const { return world_ranks.empty() ? r : world_ranks[static_cast<std::size_t>(r)]; }
};

}  // namespace heddle
