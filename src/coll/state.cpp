#include "coll/state.hpp"

#include "coll/internal.hpp"

namespace heddle::coll {

namespace {

[[gnu::cold, gnu::noinline]] CommState& make_state(Comm& comm) {
  lln::shm::Heap& heap = p2p::shared_memory(*comm.owner);
  lln::shm::Offset block = lln::shm::nowhere;
  if (comm.rank == 0) {
    block = heap.allocate(Region::bytes_for(comm.size));
    if (block != lln::shm::nowhere) Region::prepare(heap.at<std::byte>(block), comm.size);
  }
  // If this fails for one member the job is lost anyway: it cannot be told apart from a process that died.
  if (bcast_bytes(comm, &block, sizeof block, 0)) block = lln::shm::nowhere;
  comm.coll = new CommState{block, {}};
  if (block != lln::shm::nowhere) comm.coll->region.emplace(comm, heap.at<std::byte>(block));
  return *comm.coll;
}

}  // namespace

Region* region_of(Comm& comm) {
  CommState& state = comm.coll ? *comm.coll : make_state(comm);
  return state.region ? &*state.region : nullptr;
}

void release_state(Comm& comm) {
  CommState* state = comm.coll;
  if (!state) return;
  comm.coll = nullptr;
  if (state->region && state->region->detach()) {
    p2p::shared_memory(*comm.owner).release(state->block, Region::bytes_for(comm.size));
  }
  delete state;
}

}  // namespace heddle::coll
