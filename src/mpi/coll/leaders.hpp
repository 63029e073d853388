// Collectives over several nodes, some of which have several members: inside each node, then between leaders, one a
// node, then inside each node again. So data cross once for each node that needs them, and not once for each member.
//
// All of it is one schedule on the communicator itself. Its messages inside a node and those between leaders have their
// own pairs of processes, so they never mix. Blocking operations on short vectors do the steps inside the node through
// its memory (stages.hpp).
//
// Source: hierarchical collectives as in MagPIe (Kielmann et al., PPoPP 1999); that the root leads its node is from
// there.
#pragma once

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/nodes.hpp"
#include "objects/op/op.hpp"

namespace heddle::coll::by_leaders {

inline constexpr int no_root = -1;

// The two teams of an operation. The root, if there is one, leads its node.
struct Teams {
  Teams(Schedule& schedule, const Nodes& nodes, int root = no_root);
  bool leads() const { return local.rank == leader; }

  Team local;
  Team leaders;  // only a leader has a rank in it
  int leader;    // in `local`
  int root;      // its node, in `leaders`
};

// The leader of the caller's node, as a place in nodes.local.
int leader_of(const Nodes& nodes, int root = no_root);

inline int rank_of_leader(const Nodes& nodes, int root = no_root) {
  return nodes.local[static_cast<std::size_t>(leader_of(nodes, root))];
}

// True if a reduction by nodes keeps the order of ranks, or need not.
inline bool may_reduce(const Nodes& nodes, const Op& op) { return nodes.consecutive || op.commutative; }

void barrier(Schedule& schedule, const Nodes& nodes);
void bcast(Schedule& schedule, const Nodes& nodes, const BufferView& message, int root);
void reduce(Schedule& schedule, const Nodes& nodes, const BufferView& mine, const BufferView& result, int root);
void allreduce(Schedule& schedule, const Nodes& nodes, const BufferView& mine, const BufferView& result);
// Regular blocks; this member's is in its place.
void allgather(Schedule& schedule, const Nodes& nodes, const Blocks& all);

// Between leaders, each with the blocks of its node; then each has all.
void exchange_blocks(const Teams& teams, const Nodes& nodes, const Blocks& all);

}  // namespace heddle::coll::by_leaders
