#include "coll/state.hpp"

#include "coll/internal.hpp"

namespace heddle::coll {

namespace {

[[gnu::cold, gnu::noinline]] CommState& make_state(Comm& comm) {
  lln::shm::Heap& heap = p2p::shared_memory(*comm.owner);
  struct {
    lln::shm::Offset block;
    std::uint64_t crowded;
  } made{lln::shm::nowhere, comm.owner->machine.crowded};
  if (comm.rank == 0) {
    made.block = heap.allocate(Region::bytes_for(comm.size), comm.size);
    if (made.block != lln::shm::nowhere) Region::prepare(heap.at<std::byte>(made.block), comm.size);
  }
  // If this fails for one member the job is lost anyway: it cannot be told apart from a process that died.
  if (bcast_bytes(comm, &made, sizeof made, 0)) made.block = lln::shm::nowhere;
  comm.coll = new CommState{made.block, {}};
  if (made.block != lln::shm::nowhere) {
    if (comm.rank != 0) heap.join(made.block);
    comm.coll->region.emplace(comm, heap.at<std::byte>(made.block), made.crowded != 0);
  }
  return *comm.coll;
}

}  // namespace

Region* region_of(Comm& comm) {
  CommState& state = comm.coll ? *comm.coll : make_state(comm);
  return state.region ? &*state.region : nullptr;
}

void leave_region(Comm& comm) { comm.coll->region.reset(); }

void release_state(Comm& comm) {
  CommState* state = comm.coll;
  if (!state) return;
  comm.coll = nullptr;
  if (state->block != lln::shm::nowhere)
    p2p::shared_memory(*comm.owner).release(state->block, Region::bytes_for(comm.size));
  delete state;
}

}  // namespace heddle::coll
