// An allocator of the job's segment, for memory that several ranks share.
//
// Every rank maps the segment at an address of its own, so places are Offsets. Blocks come in powers of two from a page
// up, zero-filled when first used; free ones wait in a list per size, and are split once nothing else is left. The
// segment is sparse: untouched memory costs nothing, and a job that ends leaves nothing.
//
// A block has the number of users that its allocator sets, and is free when each of them has released it. A user's
// accesses to the block before its release come before all accesses of the block's next users.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/platform/sparse_memory.hpp"

namespace heddle::node {

// The rank that takes a lock in the node's memory, and the test for dead ranks (base/sync/robust_lock.hpp).
struct Survivor {
  std::uint32_t rank = 0;
  bool (*gone)(const void* what, std::uint32_t rank) = nullptr;  // null: the job ends with any rank that fails
  const void* what = nullptr;

  bool is_gone(std::uint32_t other) const { return gone != nullptr && gone(what, other); }
};

using Offset = std::uint64_t;  // from the heap's start; 0 is nowhere
inline constexpr Offset nowhere = 0;

class Heap {
 public:
  Heap() = default;
  // `base` is this rank's address of the heap; its content is zero before the first rank comes. The `first` bytes at
  // reserved() are not handed out: they are found without a pointer. The last `for_channels` bytes are for
  // Purpose::channel alone: the same number for every rank. `memory`: of which the heap is a part that is mapped when
  // it is needed; null: all of it is mapped.
  Heap(std::byte* base, std::size_t bytes, std::size_t first, std::size_t for_channels = 0,
       platform::SparseMemory* memory = nullptr)
      : base_(base),
        bytes_(bytes),
        first_free_(reserved() + whole_pages(first)),
        for_channels_(for_channels),
        memory_(memory) {}

  // From here on: before any memory is asked for.
  void set_survivor(const Survivor& survivor) { survivor_ = survivor; }

  Offset reserved() const { return page + whole_pages(bytes_ / page * sizeof(Users)); }
  // Maps the lock and the reserved bytes. Throws std::bad_alloc.
  void reach_reserved() const {
    reach(0, page);
    reach(reserved(), first_free_ - reserved());
  }

  // Without a channel a rank can't be reached at all, not even by a collective that others have begun; all else can be
  // refused.
  enum class Purpose : bool { any, channel };
  // At least `bytes`, page aligned, `nowhere` if the segment is full. A block that was used before is not cleared.
  Offset allocate(std::size_t bytes, int users = 1, Purpose purpose = Purpose::any);
  // A user that was told of the block by its allocator. The order behind the block's earlier users went through that
  // process, which the thread sanitizer does not see; here it does. Throws std::bad_alloc where the block cannot be
  // mapped.
  void join(Offset block) const {
    const std::uint32_t word = users(block).load(std::memory_order_acquire);
    reach(block, page << (word >> class_shift));
  }
  // The only user left of a block that two had gives it to both again. False: the other has not released it.
  bool share(Offset block) const {
    std::uint32_t alone = users(block).load(std::memory_order_relaxed);
    return (alone & count_mask) == 1 &&
           users(block).compare_exchange_strong(alone, alone + 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  // One user is done with the block, and must not touch it any more.
  void release(Offset block, std::size_t bytes);
  // The bytes of all blocks that have users, but for channels, which are never released. Visits all free blocks.
  std::size_t used() const;

  // In a block that this process has allocated or joined.
  template <class T>
  T* at(Offset offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  // In any block, of which so many bytes from there on are used. Throws std::bad_alloc where they cannot be mapped.
  template <class T>
  T* reached(Offset offset, std::size_t bytes = sizeof(T)) const {
    reach(offset, bytes);
    return at<T>(offset);
  }
  Offset offset_of(const void* p) const { return static_cast<Offset>(static_cast<const std::byte*>(p) - base_); }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr int size_classes = 32;  // of page << class

  static constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

  // With the heap locked; c is the class of a block's size.
  Offset take_free(int c);
  Offset take_new(std::size_t size, Purpose purpose);
  Offset split_larger(int c);
  void put_free(Offset block, int c);

  bool can_reach(Offset offset, std::size_t bytes) const {
    return memory_ == nullptr || memory_->reach(base_ + offset, bytes);
  }
  void reach(Offset offset, std::size_t bytes) const {
    if (!can_reach(offset, bytes)) throw std::bad_alloc();
  }

  struct Control;
  Control& control() const { return *reinterpret_cast<Control*>(base_); }
  // Users of the block that begins at this page: their number, and the size class in the upper bits. A table behind the
  // control page, as sparse as the heap.
  using Users = std::atomic<std::uint32_t>;
  static constexpr int class_shift = 24;
  static constexpr std::uint32_t count_mask = (1U << class_shift) - 1;
  Users& users(Offset block) const { return *reached<Users>(page + block / page * sizeof(Users)); }

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t first_free_ = page;
  std::size_t for_channels_ = 0;
  platform::SparseMemory* memory_ = nullptr;
  Survivor survivor_;
};

}  // namespace heddle::node
