#include "base/node/heap.hpp"

#include <algorithm>
#include <bit>

#include "base/platform/native.hpp"
#include "base/sync/robust_lock.hpp"

namespace heddle::node {

// First page of the heap. Allocation is rare (first message to a peer, a new pipe), so one lock is enough. The data
// that it guards are valid after each store: a rank that dies between two loses a block at most.
struct Heap::Control {
  sync::RobustLock<platform::Native> locked;
  std::atomic<std::uint64_t> top;  // bytes ever handed out, the reserved ones included; 0 before the first allocation
  std::uint64_t channels;          // of them, those for channels
  Offset free[size_classes];       // each block's first word is the next one's offset
};

namespace {

int size_class(std::size_t bytes, std::size_t page) { return bytes <= page ? 0 : std::bit_width((bytes - 1) / page); }

using Guard = sync::RobustGuard<platform::Native>;

}  // namespace

Offset Heap::allocate(std::size_t bytes, int users, Purpose purpose) {
  const int c = size_class(bytes, page);
  if (c >= size_classes) return nowhere;
  Control& heap = control();
  const Guard guard(heap.locked, survivor_.rank, [this](std::uint32_t rank) { return survivor_.is_gone(rank); });
  Offset block = take_free(c);
  if (block == nowhere) block = take_new(page << c, purpose);
  if (block == nowhere) block = split_larger(c);
  if (block == nowhere) return nowhere;
  // Acquires the releases of all earlier users. The lock alone would do, since the last of them took it; but that may
  // have been another process, whose part in this the thread sanitizer does not see.
  const std::uint32_t word = static_cast<std::uint32_t>(c) << class_shift | static_cast<std::uint32_t>(users);
  this->users(block).exchange(word, std::memory_order_acquire);
  return block;
}

Offset Heap::take_free(int c) {
  Control& heap = control();
  const Offset block = heap.free[c];
  if (block == nowhere || !can_reach(block, page << c)) return nowhere;
  (void)users(block).load(std::memory_order_acquire);
  heap.free[c] = *at<Offset>(block);
  return block;
}

// From memory that was never handed out.
Offset Heap::take_new(std::size_t size, Purpose purpose) {
  Control& heap = control();
  const std::uint64_t top = heap.top.load(std::memory_order_relaxed);
  const Offset block = top != 0 ? top : first_free_;
  const std::uint64_t kept = purpose == Purpose::channel ? 0 : for_channels_ - std::min(for_channels_, heap.channels);
  if (block + size + kept > bytes_ || !can_reach(block, size)) return nowhere;
  heap.top.store(block + size, std::memory_order_relaxed);
  if (purpose == Purpose::channel) heap.channels += size;
  return block;
}

// Once all has been handed out, free large blocks must serve small requests.
Offset Heap::split_larger(int c) {
  int larger = c + 1;
  Offset block = nowhere;
  while (larger < size_classes && (block = take_free(larger)) == nowhere) ++larger;
  if (block == nowhere) return nowhere;
  while (larger-- > c) put_free(block + (page << larger), larger);
  return block;
}

// A block that this process can no longer map is lost: it ran out of addresses.
void Heap::put_free(Offset block, int c) {
  if (!can_reach(block, sizeof(Offset))) return;
  Control& heap = control();
  *at<Offset>(block) = heap.free[c];
  heap.free[c] = block;
  // a process that joins the block's next users is behind the link, too
  users(block).store(0, std::memory_order_release);
}

void Heap::release(Offset block, std::size_t bytes) {
  if ((users(block).fetch_sub(1, std::memory_order_acq_rel) & count_mask) != 1) return;
  const Guard guard(control().locked, survivor_.rank, [this](std::uint32_t rank) { return survivor_.is_gone(rank); });
  put_free(block, size_class(bytes, page));
}

std::size_t Heap::used() const {
  Control& heap = control();
  const Guard guard(heap.locked, survivor_.rank, [this](std::uint32_t rank) { return survivor_.is_gone(rank); });
  const std::uint64_t top = heap.top.load(std::memory_order_relaxed);
  if (top == 0) return 0;
  std::size_t used = top - first_free_ - heap.channels;
  for (int c = 0; c < size_classes; ++c)
    for (Offset block = heap.free[c]; block != nowhere; block = *reached<Offset>(block)) used -= page << c;
  return used;
}

}  // namespace heddle::node
