// The memory that the members of a communicator share for collectives; see shared.hpp.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lln/shm/heap.hpp"
#include "object/comm.hpp"
#include "p2p/p2p.hpp"
#include "rank/rank.hpp"

namespace heddle::coll {

using Epoch = std::uint32_t;  // number of an operation; wraps around
inline bool reached(Epoch now, Epoch wanted) { return static_cast<std::int32_t>(now - wanted) >= 0; }

// What lies in shared memory. Every word that is written by one member and read by others has a line of its own.
struct Frame {
  alignas(64) std::atomic<std::uint32_t> arrived;  // members that have filled their slots
  alignas(64) std::atomic<Epoch> open;             // the operation whose outcome is there to be read
  std::uint64_t bytes;                             // of a broadcast message, written before `open`
};

struct Member {
  alignas(64) std::atomic<Epoch> finished;  // the last operation in whose frame it has nothing left to do
};

struct RegionHead {
  alignas(64) std::atomic<std::uint32_t> users;      // members that have not freed the communicator
  alignas(64) std::atomic<std::uint32_t> congested;  // members that wait for a frame to be free
};

// One member's view of a region.
class Region {
 public:
  static constexpr std::size_t frames = 8;
  // Slots for messages of a few lines lie together; the pages of larger ones are only there if used.
  static constexpr std::size_t small_slot = 256;
  static constexpr std::size_t large_slot = 8192;

  static std::size_t bytes_for(int members) {
    return offset_of_large(members) + frames * static_cast<std::size_t>(members) * large_stride;
  }
  // By one member, before the others attach.
  static void prepare(std::byte* base, int members);

  Region(Comm& comm, std::byte* base) : comm_(comm), base_(base), members_(comm.size) {}
  // True if this was the last user.
  bool detach() { return head().users.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  std::byte* base() const { return base_; }

  // ---- The course of an operation ----

  // Begins the next operation: waits until its frame is free.
  void enter();
  std::byte* slot(int member, std::size_t bytes) const {
    const auto i = frame_index() * static_cast<std::size_t>(members_) + static_cast<std::size_t>(member);
    return bytes <= small_slot ? base_ + offset_of_small(members_) + i * small_slot
                               : base_ + offset_of_large(members_) + i * large_stride;
  }
  // Counts this member in, its slot being filled; true for the last one.
  bool arrive() {
    Frame& f = frame();
    if (f.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != static_cast<std::uint32_t>(members_)) return false;
    f.arrived.store(0, std::memory_order_relaxed);  // for the frame's next use; nobody looks before then
    return true;
  }
  void open() {
    open([](int) { return true; });
  }
  // Wakes only those members that wait for this.
  template <class Waits>
  void open(Waits&& waits) {
    frame().open.store(epoch_, std::memory_order_release);
    for (int m = 0; m < members_; ++m) {
      if (m != comm_.rank && waits(m)) p2p::notify(*comm_.owner, comm_.world_rank(m));
    }
  }
  void await_open() {
    const std::atomic<Epoch>& word = frame().open;
    await([&word, this] { return word.load(std::memory_order_acquire) == epoch_; });
  }
  // After an operation in which everyone waited for everyone.
  void all_arrived() { known_finished_ = epoch_ - 1; }
  void finish();

  Frame& frame() const { return reinterpret_cast<Frame*>(base_ + sizeof(RegionHead))[frame_index()]; }

 private:
  // Slots a few lines more than a power of two apart, so that they do not all fall into the same sets of the cache.
  static constexpr std::size_t large_stride = large_slot + 192;
  static std::size_t offset_of_small(int members) {
    return sizeof(RegionHead) + frames * sizeof(Frame) + static_cast<std::size_t>(members) * sizeof(Member);
  }
  static std::size_t offset_of_large(int members) {
    const std::size_t end = offset_of_small(members) + frames * static_cast<std::size_t>(members) * small_slot;
    return (end + 4095) / 4096 * 4096;
  }

  RegionHead& head() const { return *reinterpret_cast<RegionHead*>(base_); }
  Member& member(int m) const {
    return reinterpret_cast<Member*>(base_ + sizeof(RegionHead) + frames * sizeof(Frame))[m];
  }
  static constexpr int turns = 16;
  std::size_t frame_index() const { return epoch_ % frames; }
  Epoch slowest() const;

  // With more ranks than cores, whoever is waited for needs this core more than we do: give it away at once, and only
  // if that does not help wait in earnest.
  template <class F>
  void await(const F& holds) {
    Rank& rank = *comm_.owner;
    if (rank.machine.crowded) {
      for (int i = 0; i < turns; ++i) {
        if (holds()) return;
        sched_yield();
      }
    }
    p2p::wait_until(rank, holds);
  }

  Comm& comm_;
  std::byte* base_;
  int members_;
  Epoch epoch_ = 0;           // of the operation under way, or the last one
  Epoch known_finished_ = 0;  // every member has finished at least this one
};

}  // namespace heddle::coll
