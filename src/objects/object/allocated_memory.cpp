#include "objects/object/allocated_memory.hpp"

#include <cstdlib>
#include <new>

#include "base/node/room.hpp"
#include "launch/rank/rank.hpp"

namespace heddle {
namespace {

constexpr std::size_t shared_from = 64 * 1024;  // bytes: shorter ones are parts of short messages, most often
constexpr std::size_t page = 4096;

bool has_neighbours_elsewhere(const Rank& rank) {
  const boot::World& job = *rank.job;
  for (int i = 0; i < job.first_local_ranks(); ++i)
    if (const int neighbour = job.first_local() + i;
        neighbour != rank.world_rank && !rank.peer_memory.same_space(neighbour))
      return true;
  return false;
}

}  // namespace

void* AllocatedMemory::allocate(Rank& rank, std::size_t bytes, std::size_t alignment) {
  // Where no memory is set aside for windows, the library needs all that there is.
  const bool has_room = node::window_room() != 0;
  if (bytes >= shared_from && alignment <= page && has_room && rank.node && has_neighbours_elsewhere(rank))
    if (void* const memory = share(rank, bytes)) return memory;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

void* AllocatedMemory::share(Rank& rank, std::size_t bytes) {
  node::Heap& heap = rank.node->heap();
  const node::Offset offset = heap.allocate(bytes);
  if (offset == node::nowhere) return nullptr;
  auto* const memory = heap.at<void>(offset);
  try {
    const std::lock_guard guard(mutex_);
    shared_[memory] = {offset, bytes};
  } catch (const std::bad_alloc&) {
    heap.release(offset, bytes);
    return nullptr;
  }
  return memory;
}

void AllocatedMemory::release(Rank& rank, void* memory) {
  std::unique_lock lock(mutex_);
  const auto found = shared_.find(memory);
  if (found == shared_.end()) {
    lock.unlock();
    return std::free(memory);
  }
  const Block block = found->second;
  shared_.erase(found);
  lock.unlock();
  rank.node->heap().release(block.offset, block.bytes);
}

}  // namespace heddle
