// The shared state of one node's ranks, as seen by one of them: the heap, the doorbells, and the number of waiting
// threads.
//
// A node is a set of ranks that see the same memory. The start of the heap, which is zero before the first of them
// comes, is laid out here; behind it networks may have a part of their own that is found without a pointer
// (`reserved`), and the rest is handed out in blocks (heap.hpp).
//
// Ranks have their number in the job, on every node: doorbells of ranks of other nodes are unused addresses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/node/heap.hpp"
#include "base/platform/native.hpp"
#include "base/sync/doorbell.hpp"

namespace heddle::node {

using Doorbell = sync::Doorbell<platform::Native>;

// A rank's doorbell, two lines from the next one: cores fetch lines in pairs.
struct alignas(2 * platform::cache_line) Bell {
  Doorbell doorbell;
};

struct alignas(2 * platform::cache_line) Census {
  platform::Native::atomic<std::uint32_t> waiting;
  std::atomic<std::uint32_t> reaching;  // ranks that have come and whose heavy fences reach the others' light ones
};

// A rank, and its node.
struct Place {
  int rank;         // in the job
  int ranks;        // of the job
  int first_local;  // the first of the node's ranks, which have consecutive numbers
  int local_ranks;  // of the node, with those that may be spawned
  int first_ranks;  // of them, those that the job has begun with, from first_local on

  bool is_local(int peer) const {
    return static_cast<unsigned>(peer) - static_cast<unsigned>(first_local) < static_cast<unsigned>(local_ranks);
  }
  bool is_alone() const { return local_ranks == ranks; }  // the job has one node
  bool is_spawned() const { return rank >= first_local + first_ranks; }
};

// The place of the ranks' doorbells in a node's memory of so many bytes.
inline std::size_t offset_of_bells(std::size_t heap_bytes) {
  return Heap(nullptr, heap_bytes, 0).reserved() + sizeof(Census);
}

class Node {
 public:
  // `heap` is this rank's address of the node's memory, in which networks lay out `for_networks` bytes, and the last
  // `for_channels` are kept for ways between ranks (Heap::Purpose::channel); both the same for every rank of the node.
  // `memory` as Heap has it. Throws std::bad_alloc.
  Node(std::byte* heap, std::size_t bytes, const Place& place, std::size_t for_networks, std::size_t for_channels,
       platform::SparseMemory* memory = nullptr);

  Heap& heap() { return heap_; }
  // The part of size for_networks.
  Offset for_networks() const { return heap_.reserved() + start_bytes(place_.ranks); }
  const Place& place() const { return place_; }
  bool is_local(int peer) const { return place_.is_local(peer); }

  Bell* bells() const { return bells_; }
  Doorbell& own_bell() { return bells_[place_.rank].doorbell; }
  // Spinning threads of the node's ranks (base/safety/patience.hpp).
  platform::Native::atomic<std::uint32_t>& waiting() { return census().waiting; }

  // Light fences are full ones until all ranks that the job has begun with have come and every one has heavy fences
  // that reach them; ranks spawned later must have such fences then. Called now and then, where it costs nothing: when
  // a channel appears, before a thread blocks.
  void agree_on_fences() {
    if (census().reaching.load(std::memory_order_acquire) == static_cast<std::uint32_t>(place_.first_ranks))
      platform::Native::fence_fully(false);
  }
  // True if a rank without fences that reach the others may no longer join.
  bool needs_heavy_fences() const {
    return place_.is_spawned() && !platform::Native::heavy_fence_reaches() &&
           census().reaching.load(std::memory_order_acquire) == static_cast<std::uint32_t>(place_.first_ranks);
  }

 private:
  static std::size_t start_bytes(int ranks) { return sizeof(Census) + static_cast<std::size_t>(ranks) * sizeof(Bell); }
  Census& census() const { return *heap_.at<Census>(heap_.reserved()); }

  Heap heap_;
  Place place_;
  Bell* bells_;  // by rank
};

}  // namespace heddle::node
