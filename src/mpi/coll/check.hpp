// Checks of arguments that only a collective can make; the binding has checked all else.
#pragma once

#include "mpi/coll/algorithms.hpp"
#include "objects/object/error.hpp"

namespace heddle::coll {

inline bool is_in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

// A copy within this process: not onto itself, and not into a smaller buffer.
Error check_copy(const BufferView& from, const BufferView& to);
// Operation and datatype of a reduction, which the schedule then uses.
Error take_op(Schedule& schedule, const Op& op, const Datatype& type);
// `n` blocks of a neighborhood collective's buffer: their counts, displacements and datatypes.
Error check_neighbor_blocks(const char* name, const Blocks& blocks, std::size_t n);

}  // namespace heddle::coll
