// Large blocking collectives between processes with more ranks than cores: each member reads the others' buffers
// through the kernel, as ranks of one process do without it (direct.hpp). Each byte is copied once for each member that
// needs it; through slots it would be copied twice, and messages would each wait for a process that is not running,
// whose memory can be read all the same. Members wait for each other twice, however long the vector (buffer_exchange.hpp).
//
// Allreduce is left out: sums would have to be written back, and the slots, which stay in the caches, are as fast.
#pragma once

#include "mpi/coll/buffer_view.hpp"
#include "mpi/coll/node/region.hpp"
#include "mpi/coll/node/shared.hpp"
#include "objects/object/comm.hpp"
#include "objects/op/op.hpp"

namespace heddle::coll {

// Each is the operation's result, or nothing if nothing was done: a member cannot be reached through the kernel, its
// buffer is not one run of bytes, or there is no memory. All members return the same, since each knows it of all. Where
// the kernel fails during a copy all members return the error.
//
// `result` is elements [first, first + result.count) of the reduced vector. Not in place.
Attempt far_reduce_scatter(Region& region, Comm& comm, const BufferView& mine, MPI_Count first,
                           const BufferView& result, const Signature& signature, const Op& op);
// `mine` may be this member's block of `all`.
Attempt far_allgather(Region& region, Comm& comm, const BufferView& mine, const Blocks& all,
                      const Signature& signature);
// Regular blocks, not in place.
Attempt far_alltoall(Region& region, Comm& comm, const Blocks& from, const Blocks& to, const Signature& signature);

}  // namespace heddle::coll
