// DSM-Synch: software combining over an MCS queue, with lock and unlock beside it.
//
// Source: Fatourou and Kallimanis, PPoPP 2012, as in Amer 2019, Fig. 2: decomposed into announcing, combining and
// handing over (b), and extended by plain mutual exclusion (c), which announces an empty descriptor; with the fix of
// line 63: the combiner must not touch a node after it has handed over. The lock of the model `csync`.
//
// apply(node, op) has `run(op)` executed by one of the threads, once, while no other thread executes one or holds the
// lock; it returns after that. lock and unlock bracket work that should not be announced. The thread that becomes the
// combiner first executes up to MaxCombine other operations.
//
// Invariants: as McsLock; the combiner is the owner. A thread whose operation is complete is no longer in the queue as
// far as it knows, but its entry is, until the combiner has gone past it: each thread has two entries in turn, and an
// entry is free again when the next operation of its thread is complete. There is at most one empty descriptor in the
// queue, since callers of lock exclude each other first (guard_); an empty one ends combining, so many would defeat it.
// Safety: mutual exclusion of operations and lock holders; each operation is executed once. Progress: starvation free;
// FIFO in the order of the exchange on tail_, except that lock callers queue at guard_ before. When: many threads with
// short operations on shared state, all running: the state stays in the combiner's cache. Blocks as a FIFO lock does
// when threads outnumber cores. A node must not be destroyed before all apply and lock calls that were concurrent with
// its last one have returned; keep nodes beside the lock. `run` must not touch this lock.
//
// Memory orders: tail_ and next as in McsLock. Store to status, release, and its await, acquire: hand over operations
// and their results, one way, or the critical section. The read of the next but one is relaxed: it only tests if there
// is one.
#pragma once

#include <utility>

#include "base/platform/platform.hpp"
#include "base/sync/mcs_lock.hpp"

namespace heddle::sync {

template <platform::Platform P, class Op, class Run, std::uint32_t MaxCombine = 1024>
class DsmSynch {
  using order = platform::order;

  static constexpr std::uint32_t waiting = 0;
  static constexpr std::uint32_t owner = 1;
  static constexpr std::uint32_t complete = 2;

  struct alignas(platform::cache_line) Entry {
    typename P::template atomic<Entry*> next{nullptr};
    typename P::template atomic<std::uint32_t> status{waiting};
    typename P::template plain<Op*> op{nullptr};  // null: an empty descriptor
  };

 public:
  class node {
    friend class DsmSynch;
    Entry& turn() { return entries[now ^= 1U]; }
    Entry entries[2];
    unsigned now = 0;
    Entry* head = nullptr;  // the last entry that this combiner has dealt with
    typename McsLock<P>::node guard;
  };

  explicit DsmSynch(Run run = Run()) : run_(std::move(run)) {}

  void apply(node& mine, Op& op) {
    Entry& entry = mine.turn();
    if (!announce(entry, &op)) return;
    combine(mine, entry);
    hand_over(mine);
  }

  void lock(node& mine) {
    guard_.lock(mine.guard);
    Entry& entry = mine.turn();
    announce(entry, nullptr);
    combine(mine, entry);
  }

  bool try_lock(node& mine) {
    if (!guard_.try_lock(mine.guard)) return false;
    Entry& entry = mine.turn();
    prepare(entry, nullptr);
    Entry* none = nullptr;
    if (!tail_.compare_exchange(none, &entry, order::acq_rel, order::relaxed)) {
      guard_.unlock(mine.guard);
      return false;
    }
    combine(mine, entry);
    return true;
  }

  void unlock(node& mine) {
    hand_over(mine);
    guard_.unlock(mine.guard);
  }

 private:
  static void prepare(Entry& entry, Op* op) {
    entry.next.store(nullptr, order::relaxed);
    entry.status.store(waiting, order::relaxed);
    entry.op.set(op);
  }

  // True if the caller is the combiner now; if not, its operation is complete.
  bool announce(Entry& entry, Op* op) {
    prepare(entry, op);
    Entry* const before = tail_.exchange(&entry, order::acq_rel);
    if (before == nullptr) return true;
    before->next.store(&entry, order::release);
    return P::await(entry.status, order::acquire, [](std::uint32_t s) { return s != waiting; }) == owner;
  }

  // Executes operations from the caller's own on; leaves at least one entry, if there is one, to hand over to.
  void combine(node& mine, Entry& first) {
    Entry* entry = &first;
    for (std::uint32_t combined = 0;; ++combined) {
      if (Op* const op = entry->op.get()) {
        run_(*op);
        entry->status.store(complete, order::release);
      }
      Entry* const next = entry->next.load(order::acquire);
      if (next == nullptr || next->next.load(order::relaxed) == nullptr || next->op.get() == nullptr ||
          combined == MaxCombine) {
        break;
      }
      entry = next;
    }
    mine.head = entry;
  }

  void hand_over(node& mine) {
    Entry* const head = mine.head;
    Entry* next = head->next.load(order::acquire);
    if (next == nullptr) {
      Entry* last = head;
      if (tail_.compare_exchange(last, nullptr, order::release, order::relaxed)) return;
      next = P::await(head->next, order::acquire, [](Entry* linked) { return linked != nullptr; });
    }
    next->status.store(owner, order::release);
  }

  Run run_;
  McsLock<P> guard_;
  alignas(platform::cache_line) typename P::template atomic<Entry*> tail_{nullptr};
};

}  // namespace heddle::sync
