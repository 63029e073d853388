#include "coll/state.hpp"

#include "coll/internal.hpp"

namespace heddle::coll {

namespace {

[[gnu::cold, gnu::noinline]] void make_region(Comm& comm, CommState& state) {
  node::Heap& heap = p2p::shared_memory(*comm.owner);
  struct {
    node::Offset block;
    std::uint64_t crowded;
  } made{node::nowhere, comm.owner->machine.crowded};
  if (comm.rank == 0) {
    made.block = heap.allocate(Region::bytes_for(comm.size), comm.size);
    if (made.block != node::nowhere) Region::prepare(heap.at<std::byte>(made.block), comm.size);
  }
  // If this fails for one member the job is lost anyway: it cannot be told apart from a process that died.
  if (bcast_bytes(comm, &made, sizeof made, 0)) made.block = node::nowhere;
  state.block = made.block;
  state.shared = true;
  if (made.block != node::nowhere) {
    if (comm.rank != 0) heap.join(made.block);
    state.region.emplace(comm, heap.at<std::byte>(made.block), made.crowded != 0);
  }
}

}  // namespace

Region* region_of(Comm& comm) {
  CommState& state = state_of(comm);
  if (!state.shared && !p2p::is_on_one_node(comm)) state.shared = true;  // and has no region
  if (!state.shared) make_region(comm, state);
  return state.region ? &*state.region : nullptr;
}

void leave_region(Comm& comm) { comm.coll->region.reset(); }

void release_state(Comm& comm) {
  CommState* state = comm.coll;
  if (!state) return;
  comm.coll = nullptr;
  if (state->block != node::nowhere)
    p2p::shared_memory(*comm.owner).release(state->block, Region::bytes_for(comm.size));
  delete state;
}

}  // namespace heddle::coll
