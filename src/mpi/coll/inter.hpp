// The collectives of intercommunicators (MPI 5.0, section 6.2.3): data goes from one group to the other. Where all
// members of a group get the same, rank 0 of the group fetches it and passes it on among its own.
//
// Roots are as the standard has them: MPI_ROOT in the group of the root, MPI_PROC_NULL at its other members, and the
// root's rank in the other group.
#pragma once

#include "mpi/coll/algorithms.hpp"

namespace heddle::coll::inter {

void barrier(Schedule& schedule);
void bcast(Schedule& schedule, const BufferView& message, int root);
void gather(Schedule& schedule, const BufferView& mine, const Blocks& all, int root);
void scatter(Schedule& schedule, const Blocks& all, const BufferView& mine, int root);
void allgather(Schedule& schedule, const BufferView& mine, const Blocks& all);
void alltoall(Schedule& schedule, const Blocks& from, const Blocks& to);
void reduce(Schedule& schedule, const BufferView& mine, const BufferView& result, int root);
void allreduce(Schedule& schedule, const BufferView& mine, const BufferView& result);
void reduce_scatter(Schedule& schedule, const BufferView& mine, const BufferView& result, const Slices& slices);

}  // namespace heddle::coll::inter
