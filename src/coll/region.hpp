// The memory that the members of a communicator share for collectives; see shared.hpp.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "boot/wait_record.hpp"
#include "lln/shm/heap.hpp"
#include "object/comm.hpp"
#include "object/error.hpp"
#include "p2p/blocked.hpp"
#include "p2p/p2p.hpp"
#include "platform/native.hpp"
#include "rank/rank.hpp"

namespace heddle::coll {

using Epoch = std::uint32_t;  // number of an operation; wraps around
inline bool reached(Epoch now, Epoch wanted) { return static_cast<std::int32_t>(now - wanted) >= 0; }

// What a member says that an operation is: all must say the same.
struct Claim {
  enum Kind : std::uint8_t { none, barrier, bcast, reduce, allreduce, allgather, alltoall };
  Kind kind;
  std::size_t bytes;  // that every member has, or sends to each

  // A number of 48 bits; the sum of the members' tells whether they agree.
  std::uint64_t number() const {
    std::uint64_t n = (std::uint64_t{bytes} << 3 | kind) * 0x9e3779b97f4a7c15;
    n ^= n >> 29;
    return n >> 16;
  }
};

// What lies in shared memory. Every word that is written by one member and read by others has a line of its own.
struct Frame {
  alignas(64) std::atomic<std::uint64_t> arrived;  // members that have come; above 16 bits: the sum of their claims
  alignas(64) std::atomic<Epoch> open;             // the operation whose outcome is there to be read
  std::atomic<Epoch> strayed;                      // the operation (a broadcast) in which a member went another way
  std::uint64_t bytes;                             // of a broadcast message, written before `open`
  Claim::Kind kind;  // of the operation, written before `open`; none: the members disagree
};

using Member = boot::MemberProgress;  // mpiexec reads it, for messages about hangs

struct RegionHead {
  alignas(64) std::atomic<std::uint32_t> congested;  // members that wait for a frame to be free
};

// One member's view of a region.
class Region {
 public:
  static constexpr std::size_t frames = 8;
  // Slots for messages of a few lines lie together; the pages of larger ones are only there if used.
  static constexpr std::size_t small_slot = 256;
  static constexpr std::size_t large_slot = 16384;

  static std::size_t bytes_for(int members) {
    return offset_of_large(members) + frames * static_cast<std::size_t>(members) * large_stride;
  }
  // By one member, before the others attach.
  static void prepare(std::byte* base, int members);

  Region(Comm& comm, std::byte* base, bool crowded);
  // More ranks than cores, in the eyes of the member that made the region: all members answer alike.
  bool crowded() const { return crowded_; }
  // All members are threads of one process, so that an address says the same to each.
  bool one_process() const { return one_process_; }

  // ---- The course of an operation ----

  // Begins the next epoch: waits until its frame is free. An operation may have several under way, at most `frames`,
  // before it finishes them.
  Epoch enter();
  Epoch last_entered() const { return epoch_; }
  Frame& frame(Epoch e) const { return reinterpret_cast<Frame*>(base_ + sizeof(RegionHead))[e % frames]; }
  std::byte* slot(Epoch e, int member, std::size_t bytes) const {
    const auto i = e % frames * static_cast<std::size_t>(members_) + static_cast<std::size_t>(member);
    return bytes <= small_slot ? base_ + offset_of_small(members_) + i * small_slot
                               : base_ + offset_of_large(members_) + i * large_stride;
  }
  // For whoever finds that members disagree.
  static constexpr int kind_bits = Member::kind_bits;
  void note(Epoch e, const Claim& claim) {
    Member::Note& mine = member(comm_.rank).notes[e % 2];
    mine.bytes.store(claim.bytes, std::memory_order_relaxed);
    mine.what.store(std::uint64_t{e} << kind_bits | claim.kind, std::memory_order_relaxed);
  }
  // Counts this member in, its slot being filled; true for the last one, who then knows whether all agree.
  bool arrive(Epoch e, const Claim& claim) {
    if (claim.kind != Claim::barrier) note(e, claim);
    Frame& f = frame(e);
    const std::uint64_t mine = claim.number() << 16 | 1;
    const std::uint64_t sum = f.arrived.fetch_add(mine, std::memory_order_acq_rel) + mine;
    if ((sum & 0xffff) != static_cast<std::uint64_t>(members_)) return false;
    f.arrived.store(0, std::memory_order_relaxed);  // for the frame's next use; nobody looks before then
    agreed_ = sum == mine * static_cast<std::uint64_t>(members_);
    return true;
  }
  // After arrive() has told this member that it is the last.
  bool agreed() const { return agreed_; }
  // Another member's claim that differs, as "rank 1 came with ..."; what is there of it.
  Error disagreement(Epoch e, const Claim& mine) const;
  // Lets those who wait for the frame read it; `waits` says who does.
  template <class Waits>
  void open(Epoch e, Claim::Kind kind, Waits&& waits) {
    frame(e).kind = kind;
    frame(e).open.store(e, std::memory_order_release);
    for (int m = 0; m < members_; ++m) {
      if (m != comm_.rank && waits(m)) p2p::notify(*comm_.owner, comm_.world_rank(m));
    }
  }
  void open(Epoch e, Claim::Kind kind) {
    open(e, kind, [](int) { return true; });
  }
  // False: what was opened is not an operation of this kind, in which all agree.
  [[nodiscard]] bool await_open(Epoch e, Claim::Kind kind) {
    const std::atomic<Epoch>& word = frame(e).open;
    await(boot::Awaited::members, e, -1, [&word, e] { return word.load(std::memory_order_acquire) == e; });
    return frame(e).kind == kind;
  }
  // The same for a broadcast, where a member that goes another way does not arrive but strays.
  [[nodiscard]] bool await_broadcast(Epoch e, int root) {
    const Frame& f = frame(e);
    await(boot::Awaited::root, e, root, [&f, e] {
      return f.open.load(std::memory_order_acquire) == e || f.strayed.load(std::memory_order_acquire) == e;
    });
    return f.open.load(std::memory_order_acquire) == e && f.kind == Claim::bcast;
  }
  void stray(Epoch e) { frame(e).strayed.store(e, std::memory_order_seq_cst); }
  bool strayed(Epoch e) const { return frame(e).strayed.load(std::memory_order_acquire) == e; }
  bool is_open(Epoch e) const { return frame(e).open.load(std::memory_order_seq_cst) == e; }
  // This member has nothing left to do in frames up to this one.
  void finish(Epoch e);
  // Of the root of a broadcast that others read out of its own buffer, after it has finished: waits until everyone has. False:
  // a member went another way.
  [[nodiscard]] bool await_readers(Epoch e);
  // Everyone has been seen in an operation that began with `e`, so they have finished what was before it.
  void all_seen_in(Epoch e) { known_finished_ = e - 1; }

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
  Epoch slowest() const;
  template <class F>
  void await_finished(Epoch e, const F& or_else);

  // With more ranks than cores, whoever is waited for needs this core more than we do: give it away at once, and only
  // if that does not help wait in earnest. The passive wait so anyway.
  template <class F>
  void await(boot::Awaited what, Epoch e, int peer, const F& holds) {
    Rank& rank = *comm_.owner;
    if (crowded_ && rank.machine.awake != 0) {
      for (int i = 0; i < turns; ++i) {
        if (holds()) return;
        platform::Native::yield();
      }
    }
    boot::Wait wait = p2p::wait_on(comm_, what, peer);
    wait.operation = e;
    wait.progress = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(&member(0)) - rank.job.heap);
    p2p::wait_until(rank, wait, holds);
  }

  Comm& comm_;
  std::byte* base_;
  int members_;
  bool crowded_;
  bool one_process_;
  Epoch epoch_ = 0;           // the last one entered
  Epoch known_finished_ = 0;  // every member has finished at least this one
  bool agreed_ = true;
};

}  // namespace heddle::coll
