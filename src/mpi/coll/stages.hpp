// Blocking collectives over several nodes in three stages: inside each node through its memory, between leaders by
// messages, inside each node again. The same operations as in leaders.hpp, whose messages between nodes they send; a
// vector that is too long for the memory of a node goes by those.
//
// Nodes choose for themselves: where there was no memory for a region, or a member is alone, messages inside the node
// do the same.
#pragma once

#include "mpi/coll/node/shared.hpp"

namespace heddle::coll {

// Each is the operation's result, or nothing: it has to go by messages.
Attempt staged_barrier(Comm& comm);
Attempt staged_bcast(Comm& comm, const BufferView& message, int root);
Attempt staged_reduce(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op, int root);
Attempt staged_allreduce(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op);
// `mine` is this member's block of `all` for MPI_IN_PLACE.
Attempt staged_allgather(Comm& comm, const BufferView& mine, const Blocks& all);

}  // namespace heddle::coll
