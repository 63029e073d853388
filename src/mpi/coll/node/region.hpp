// The memory that the members of a communicator on one node share for collectives; see shared.hpp and steps.hpp.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/node/heap.hpp"
#include "base/platform/native.hpp"
#include "base/sync/slot_sets.hpp"
#include "launch/boot/wait_record.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/engine/blocked.hpp"
#include "messaging/p2p/p2p.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"

namespace heddle::coll {

using sync::Round;                    // number of an operation
using Member = boot::MemberProgress;  // mpiexec reads it, for messages about hangs

// The members that share a region, by their ranks in the communicator.
struct Members {
  int rank;  // of the caller, among these
  int size;
  const int* ranks;  // in the communicator; null: all of its members

  int in_comm(int m) const { return ranks ? ranks[m] : m; }
};

// A member's description of an operation: all must be equal.
struct Signature {
  enum Kind : std::uint8_t {
    none,
    barrier,
    bcast,
    reduce,
    allreduce,
    allgather,
    alltoall,
    reduce_scatter,
    scan,
    exscan,
    gather,
    scatter
  };
  static constexpr int kind_bits = Member::kind_bits;
  static_assert(scatter < 1 << kind_bits);
  Kind kind;
  std::size_t bytes;  // that every member has, or sends to each; 0 where members may have different lengths

  // A number of 48 bits; the sum of the members' numbers shows if they agree.
  std::uint64_t number() const {
    std::uint64_t n = (std::uint64_t{bytes} << kind_bits | kind) * 0x9e3779b97f4a7c15;
    n ^= n >> 29;
    return n >> 16;
  }
};

// The data in shared memory: the signatures of the members are summed up in `arrived`.
struct SlotSet : sync::SlotSet<platform::Native> {
  std::uint64_t bytes;   // of a broadcast message, written before `open`
  Signature::Kind kind;  // of the operation, written before `open`; none: the members disagree
};
static_assert(sizeof(SlotSet) == 128);

struct RegionHead {
  alignas(64) platform::Native::atomic<std::uint32_t> congested;  // members that wait for a slot set to be free
  platform::Native::atomic<std::uint32_t> gone;                   // members that have released the region
};

// One member's view of a region.
class Region {
 public:
  static constexpr std::size_t slot_sets = 8;
  // Slots for messages of a few lines lie together; the pages of larger ones are only there if used.
  static constexpr std::size_t small_slot = 256;
  static constexpr std::size_t large_slot = 16384;
  // A longer block for one other member may lie in a deposit, of which every member has one per slot set, made when it
  // is first needed.
  static constexpr std::size_t deposit_bytes = 262144;

  static std::size_t bytes_for(int members) {
    return offset_of_large(members) + slot_sets * static_cast<std::size_t>(members) * large_stride;
  }
  // By one member, before the others attach.
  static void prepare(const Comm& comm, std::byte* base, const Members& members);
  // By each of the members, also after they have left the region: the last one releases their deposits.
  static void release(node::Heap& heap, node::Offset block, int members);

  // `members`' ranks stay where they are.
  Region(Comm& comm, const Members& members, std::byte* base, bool oversubscribed);
  const Members& members() const { return members_; }
  // More ranks than cores, as seen by the member that made the region: the same for all members.
  bool oversubscribed() const { return oversubscribed_; }
  // All members are threads of one process, so that an address is valid in each.
  bool one_process() const { return one_process_; }
  // True if every member can move data of every other one through the kernel; nothing: unknown so far.
  std::optional<bool> reach() const { return reach_; }
  void set_reach(bool all) { reach_ = all; }

  // ---- The course of an operation ----

  // Begins the next round: waits until its slot set is free. An operation may have several in progress, at most
  // `slot_sets`, before it finishes them.
  Round enter() {
    return rounds_.enter(
        [this](const auto& free) { await(boot::Awaited::behind, last_entered() - slot_sets, -1, free); });
  }
  Round last_entered() const { return rounds_.last_entered(); }
  SlotSet& slot_set(Round e) const { return shared_.set(e); }
  std::byte* slot(Round e, int member, std::size_t bytes) const {
    const auto i = e % slot_sets * static_cast<std::size_t>(members_.size) + static_cast<std::size_t>(member);
    return bytes <= small_slot ? base_ + offset_of_small(members_.size) + i * small_slot
                               : base_ + offset_of_large(members_.size) + i * large_stride;
  }
  // A member's deposit of the round, or null: it has none.
  std::byte* deposit(Round e, int m) const {
    const node::Offset deposits = member(m).deposits.load(std::memory_order_acquire);
    return deposits == node::nowhere ? nullptr
                                     : p2p::shared_memory(*comm_.owner).reached<std::byte>(deposits, deposits_bytes) +
                                           e % slot_sets * deposit_bytes;
  }
  // For the member that fills it: makes it first, or null where there is no memory.
  std::byte* make_deposit(Round e, int m) {
    if (std::byte* there = deposit(e, m)) return there;
    make_deposits(m);
    return deposit(e, m);
  }
  // For a member that finds a disagreement.
  void note(Round e, const Signature& signature) {
    Member::Note& mine = member(members_.rank).notes[e % 2];
    mine.bytes.store(signature.bytes, std::memory_order_relaxed);
    mine.what.store(std::uint64_t{e} << Signature::kind_bits | signature.kind, std::memory_order_relaxed);
  }
  // Counts this member in, its slot being filled; true for the last one, which then knows if all agree.
  bool arrive(Round e, const Signature& signature) {
    if (signature.kind != Signature::barrier) note(e, signature);
    return rounds_.arrive(e, signature.number());
  }
  // For a round whose reader reads this member's slot and deposit before all have come.
  void fill(Round e) { rounds_.fill(e); }
  bool is_filled(Round e, int m) const { return rounds_.is_filled(e, static_cast<std::uint32_t>(m)); }
  // After arrive() has returned true.
  bool agreed() const { return rounds_.agreed(); }
  // Another member's signature that differs, as "rank 1 came with ..."; as far as it is available.
  Error disagreement(Round e, const Signature& mine) const;
  // Lets the waiting members read the slot set; `waits` selects them.
  template <class Waits>
  void open(Round e, Signature::Kind kind, Waits&& waits) {
    slot_set(e).kind = kind;
    rounds_.open(e);
    for (int m = 0; m < members_.size; ++m) {
      if (m != members_.rank && waits(m)) notify(m);
    }
  }
  void open(Round e, Signature::Kind kind) {
    open(e, kind, [](int) { return true; });
  }
  // False: the opened operation is not of this kind, or members disagree.
  [[nodiscard]] bool await_open(Round e, Signature::Kind kind) {
    await(boot::Awaited::members, e, -1, [this, e] { return is_open(e); });
    return slot_set(e).kind == kind;
  }
  // The same, and does `work()` while there is some; yields in between, and blocks when there has been none for a
  // while.
  template <class Work>
  [[nodiscard]] bool await_open(Round e, Signature::Kind kind, Work&& work) {
    for (int i = 0; i < turns && !is_open(e); ++i) {
      if (work()) i = 0;
      platform::Native::yield();
    }
    return await_open(e, kind);
  }
  // The same for an operation that the leader opens for its node (mpi/coll/leaders.hpp).
  [[nodiscard]] bool await_leader(Round e, Signature::Kind kind, int leader) {
    await(boot::Awaited::leader, e, members_.in_comm(leader), [this, e] { return is_open(e); });
    return slot_set(e).kind == kind;
  }
  // The same for an operation that the root opens, where a member that goes another way does not arrive but strays.
  [[nodiscard]] bool await_root(Round e, Signature::Kind kind, int root) {
    await(boot::Awaited::root, e, root, [this, e] { return is_open(e) || strayed(e); });
    return is_open(e) && slot_set(e).kind == kind;
  }
  // This member goes another way than the root of a broadcast; true if the root has opened it by now.
  bool stray(Round e) { return rounds_.stray(e); }
  bool strayed(Round e) const { return rounds_.strayed(e); }
  bool is_open(Round e) const { return rounds_.is_open(e); }
  // This member has completed slot sets up to this one.
  void finish(Round e);
  // For the root of a broadcast that others read out of its own buffer, after it has finished: waits until all have.
  // False: a member went another way.
  [[nodiscard]] bool await_readers(Round e);
  // All members have been seen in an operation that began with `e`, so they have finished the earlier ones.
  void all_seen_in(Round e) { rounds_.all_seen_in(e); }

 private:
  // Slots a few lines more than a power of two apart, so that they do not all fall into the same sets of the cache.
  static constexpr std::size_t large_stride = large_slot + 192;
  static constexpr std::size_t deposits_bytes = slot_sets * deposit_bytes;
  static std::size_t offset_of_small(int members) {
    return sizeof(RegionHead) + slot_sets * sizeof(SlotSet) + static_cast<std::size_t>(members) * sizeof(Member);
  }
  static std::size_t offset_of_large(int members) {
    const std::size_t end = offset_of_small(members) + slot_sets * static_cast<std::size_t>(members) * small_slot;
    return (end + 4095) / 4096 * 4096;
  }

  // The data that the members share.
  struct Shared {
    std::byte* base;
    SlotSet& set(Round e) const { return reinterpret_cast<SlotSet*>(base + sizeof(RegionHead))[e % slot_sets]; }
    Member& member(std::uint32_t m) const {
      return reinterpret_cast<Member*>(base + sizeof(RegionHead) + slot_sets * sizeof(SlotSet))[m];
    }
    auto& finished(std::uint32_t m) const { return member(m).finished; }
    auto& filled(std::uint32_t m) const { return member(m).filled; }
    auto& waiting() const { return reinterpret_cast<RegionHead*>(base)->congested; }
  };

  void make_deposits(int m);
  Member& member(int m) const { return shared_.member(static_cast<std::uint32_t>(m)); }
  void notify(int m) const { p2p::notify(*comm_.owner, comm_.world_rank(members_.in_comm(m))); }
  static constexpr int turns = 16;

  // With more ranks than cores, the awaited member needs this core more than we do: yield at once, and use the normal
  // wait only if that does not help. Under the passive policy always use the normal wait.
  template <class F>
  void await(boot::Awaited what, Round e, int peer, const F& holds) {
    Rank& rank = *comm_.owner;
    if (oversubscribed_ && rank.machine.spinning != 0) {
      for (int i = 0; i < turns; ++i) {
        if (holds()) return;
        platform::Native::yield();
      }
    }
    boot::Wait wait = engine::wait_on(comm_, what, peer);
    wait.operation = e;
    wait.member = members_.rank;
    wait.members = members_.size;
    wait.progress = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(&member(0)) - rank.job->memory_of_nodes());
    p2p::wait_until(rank, wait, holds);
  }

  Comm& comm_;
  std::byte* base_;
  Members members_;
  bool oversubscribed_;
  bool one_process_;
  std::optional<bool> reach_;
  bool out_of_memory_ = false;  // for deposits; this member does not ask again
  Shared shared_;
  sync::SlotSetMember<platform::Native, slot_sets, Shared> rounds_;
};

}  // namespace heddle::coll
