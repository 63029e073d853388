#include "mpi/coll/state.hpp"

#include "base/instruments/cells.hpp"
#include "launch/boot/job.hpp"
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/internal.hpp"

namespace heddle::coll {

namespace {

// Collective over `members`, the communicator's on this node.
[[gnu::cold, gnu::noinline]] void make_region(Comm& comm, CommState& state, const Members& members) {
  state.shared = true;  // also if it fails: the others do not try again
  node::Heap& heap = p2p::shared_memory(*comm.owner);
  struct {
    node::Offset block;
    std::uint64_t oversubscribed;
  } made{node::nowhere, comm.owner->machine.oversubscribed};
  if (members.rank == 0 && members.size > 1) {
    made.block = heap.allocate(Region::bytes_for(members.size), members.size);
    if (made.block != node::nowhere) Region::prepare(comm, heap.at<std::byte>(made.block), members);
  }
  // If this fails for one member the job is lost anyway: it cannot be told apart from a process that died.
  const Error failed = run(comm, [&](Schedule& schedule) {
    bcast(Team{schedule, 0, members.rank, members.size, members.ranks}, raw(&made, sizeof made), 0);
    return success;
  });
  if (failed || made.block == node::nowhere) return;
  state.block = made.block;
  if (members.rank != 0) heap.join(made.block);
  state.region.emplace(comm, members, heap.at<std::byte>(made.block), made.oversubscribed != 0);
}

}  // namespace

const Nodes* nodes_of(Comm& comm) {
  if (comm.inter || comm.owner->node->place().is_alone()) return nullptr;
  CommState& state = state_of(comm);
  if (!state.placed) {
    auto nodes = std::make_unique<const Nodes>(comm.rank, comm.size,
                                               [&](int r) { return comm.owner->job->node_of(comm.world_rank(r)); });
    if (nodes->are_worth_leaders()) state.nodes = std::move(nodes);
    state.placed = true;
  }
  return state.nodes.get();
}

Region* region_of(Comm& comm) {
  CommState& state = state_of(comm);
  if (!state.shared) {
    // A member that waits there waits for all, and would wait for a failed one for ever.
    if (comm.owner->faults) return nullptr;
    if (!p2p::is_on_one_node(comm)) return nullptr;
    make_region(comm, state, {comm.rank, comm.size, nullptr});
  }
  return state.region && !state.nodes ? &*state.region : nullptr;
}

Region* region_for(Comm& comm) {
  (void)instruments::own_cell(comm.counters);  // this thread uses the communicator
  return comm.inter || comm.size == 1 ? nullptr : region_of(comm);
}

Region* node_region_of(Comm& comm, const Nodes& nodes) {
  CommState& state = state_of(comm);
  if (comm.owner->faults) return nullptr;  // see region_of()
  if (!state.shared) make_region(comm, state, {nodes.place, static_cast<int>(nodes.local.size()), nodes.local.data()});
  return state.region ? &*state.region : nullptr;
}

void leave_region(Comm& comm) { comm.coll->region.reset(); }

[[gnu::cold, gnu::noinline]] Error disagree(Region& region, Comm& comm, Round e, const Signature& mine) {
  const Error error = region.disagreement(e, mine);
  leave_region(comm);
  return error;
}

void release_state(Comm& comm) {
  CommState* state = comm.coll;
  if (!state) return;
  comm.coll = nullptr;
  if (state->block != node::nowhere) {
    const int members = state->nodes ? static_cast<int>(state->nodes->local.size()) : comm.size;
    Region::release(p2p::shared_memory(*comm.owner), state->block, members);
  }
  delete state;
}

}  // namespace heddle::coll
