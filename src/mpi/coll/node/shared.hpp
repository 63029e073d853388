// Blocking collectives through memory that all members share: a message is a store that the others see, and each member
// waits at most once.
//
// A communicator's region holds slot sets, used in turn by its operations (rounds); in a slot set every member has a
// slot.
//
//   one to all:  the root fills its slot and opens the slot set; the others wait for that and read.
//   all to one,
//   all to all:  each member fills its slot and counts itself in. The last to come, which alone need not wait, does the
//                common work (the reduction) and opens the slot set; members that need the result wait for that.
//
// With more ranks than cores that costs about one round of the scheduler, whatever the number of ranks.
//
// Long blocks need not be copied twice: ranks of one process access each other's buffers (direct.hpp), and so do
// processes with too few cores, through the kernel (far.hpp).
//
// Gather and scatter take one round whatever the lengths, which not every member knows: a block is in a slot, or the
// slot says that it lies in a deposit or comes as a message (blocks.cpp).
//
// A slot set is used again only when every member has finished with its contents, so an operation need not end with a
// second round of waiting. Members make the same choice because only the operation and its size decide.
//
// Source: the flags and slots are those of Graham and Shipman, "MPI support for multi-core architectures: optimized
// shared memory collectives" (EuroPVM/MPI 2008); the last arrival doing the work is ours.
#pragma once

#include <optional>

#include "mpi/coll/buffer_view.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/op/op.hpp"

namespace heddle::coll {

// Each is the operation's result, or nothing if it is not suitable for shared memory and nothing was done.
using Attempt = std::optional<Error>;

Attempt shared_barrier(Comm& comm);
Attempt shared_bcast(Comm& comm, const BufferView& message, int root);
// `result` is significant at the root. The two are the same piece for MPI_IN_PLACE.
Attempt shared_reduce(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op, int root);
Attempt shared_allreduce(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op);
// `result` is elements [first, first + result.count) of the reduced vector; it begins where `mine` does for MPI_IN_PLACE.
Attempt shared_reduce_scatter(Comm& comm, const BufferView& mine, MPI_Count first, const BufferView& result,
                              const Op& op);
// The two are the same piece for MPI_IN_PLACE. `result` stays as it is at the first member of an exclusive scan.
Attempt shared_scan(Comm& comm, const BufferView& mine, const BufferView& result, const Op& op, bool inclusive);
// `all` is significant at the root; `mine` is `none` there for MPI_IN_PLACE.
Attempt shared_gather(Comm& comm, const BufferView& mine, const Blocks& all, int root);
Attempt shared_scatter(Comm& comm, const Blocks& all, const BufferView& mine, int root);
// A member whose call is refused for its arguments takes its part all the same, and the receiver of its block gets an
// error.
void refuse_gather(Comm& comm);
void refuse_scatter(Comm& comm, int root);
// `mine` is this member's block of `all` for MPI_IN_PLACE.
Attempt shared_allgather(Comm& comm, const BufferView& mine, const Blocks& all);
// Regular blocks. `from` and `to` are the same for MPI_IN_PLACE.
Attempt shared_alltoall(Comm& comm, const Blocks& from, const Blocks& to);

}  // namespace heddle::coll
