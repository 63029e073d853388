#include "mpi/comm/split.hpp"

#include <algorithm>
#include <vector>

#include "mpi/comm/exchange.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/comm/make_comm.hpp"
#include "objects/object/context.hpp"

namespace heddle {

namespace {

// Each process's offer. The contexts are its own, for use if it becomes the first of a new group.
struct Bid {
  int color;
  int key;
  Context context;
  Context local_context;  // of an intercommunicator's local group
};

// One side of a new communicator: the members of a color, in their new order.
struct Side {
  Side(const std::vector<Bid>& bids, const Group& group, int color) {
    for (int r = 0; r < group.size; ++r) {
      if (bids[static_cast<std::size_t>(r)].color == color) ranks.push_back(static_cast<std::size_t>(r));
    }
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&](std::size_t a, std::size_t b) { return bids[a].key < bids[b].key; });
    for (std::size_t r : ranks) world_ranks.push_back(group.world_rank(static_cast<int>(r)));
  }

  std::vector<std::size_t> ranks;  // in the parent's group
  std::vector<int> world_ranks;
};

}  // namespace

Error split(Comm& parent, int color, int key, Comm*& child, const Info* info) {
  Rank& rank = *parent.owner;
  child = nullptr;
  int model = 0;
  if (Error e = choose_model(rank, *parent.local_group, info, model)) return e;
  const Bid mine{color, key, fresh_context(rank, model), parent.inter ? fresh_context(rank) : 0};
  std::vector<Bid> ours, theirs;
  if (Error e = exchange(parent, mine, ours, theirs)) return e;
  if (color == MPI_UNDEFINED) return success;

  const Side local(ours, *parent.local_group, color);
  CommParts parts{.context = ours[local.ranks[0]].context};
  if (parent.inter) {
    const Side remote(theirs, *parent.remote_group, color);
    if (remote.ranks.empty()) return success;
    if (remote.world_ranks[0] < local.world_ranks[0]) parts.context = theirs[remote.ranks[0]].context;
    parts.remote_group = make_group(rank, remote.world_ranks);
    parts.local_comm = make_child(*parent.local_comm, {.context = ours[local.ranks[0]].local_context,
                                                       .local_group = make_group(rank, local.world_ranks)});
  }
  parts.local_group = make_group(rank, local.world_ranks);
  child = make_child(parent, parts);
  return success;
}

}  // namespace heddle
