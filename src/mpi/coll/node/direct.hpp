// Large blocking collectives between ranks of one process: each member reads the others' buffers and writes into them,
// so that nothing is copied twice and no message is sent. Two synchronizations enclose that (buffer_exchange.hpp).
//
// A reduction is shared out by slices: each member reduces one, from all operands, and stores it into all results. Only
// that member reads this slice of any operand, so results may lie where operands do (MPI_IN_PLACE).
//
// Díaz-Martín 2014 shows the possibilities of a process with many ranks for messages; for collectives this is ours.
#pragma once

#include "mpi/coll/buffer_view.hpp"
#include "mpi/coll/node/region.hpp"
#include "objects/object/comm.hpp"
#include "objects/op/op.hpp"

namespace heddle::coll {

inline constexpr int every_member = -1;

// True if a vector of this type can be reduced here: elements lie one after the other, and some fit into a block.
bool directly_reducible(const Datatype& type);

// Each returns false if the members disagree about the operation; nothing has been written then.
//
// `result` is significant at `root`, or everywhere for every_member. Both may be the same piece.
bool direct_reduce(Region& region, const Comm& comm, const BufferView& mine, const BufferView& result,
                   const Signature& signature, const Op& op, int root);
// `mine` may be this member's block of `all`.
bool direct_allgather(Region& region, const Comm& comm, const BufferView& mine, const Blocks& all,
                      const Signature& signature);
// Not in place.
bool direct_alltoall(Region& region, const Comm& comm, const Blocks& from, const Blocks& to,
                     const Signature& signature);

}  // namespace heddle::coll
