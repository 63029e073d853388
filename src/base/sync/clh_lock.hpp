// CLH: a queue lock in which every waiter watches the cell of the thread before it.
//
// Source: Craig, TR 93-02-02, University of Washington, 1993; Magnusson, Landin and Hagersten, IPPS 1994; the lock of
// the model `clh` of Dang 2017. Cells move: a thread that unlocks leaves its cell to its successor and goes on with its
// predecessor's (see cell_pool.hpp).
//
// Invariants: tail_ names the cell of the last thread in the queue; if that cell is released, the lock is free. A cell
// is watched by at most one thread. Every use of a cell has another tag, so that an unchanged tail_ means that no
// thread came between (up to 2^16 uses of one cell; then try_lock may wait, and is still safe). Safety: mutual
// exclusion. Progress: starvation free, FIFO in the order of the exchange on tail_. When: as MCS. Unlocking is one
// store that never waits for a successor to link itself. Keep nodes: the first use of one takes a cell from the pool.
// With more threads than cores it collapses; take FutexLock there.
//
// Memory orders:
// - exchange on tail_, acq_rel: publishes that the cell is not released, and sees that of the predecessor: it may
//   have been released in an earlier use;
// - store to released in unlock, release, and its await, acquire: hand over the critical section;
// - try_lock: load of tail_, acquire: sees that the cell is not released, as the exchange does. The read of
//   `released` that follows is relaxed: the await after the compare_exchange reads again, and acquires. The
//   compare_exchange, release: publishes the cell; failure changes nothing: relaxed;
// - has_waiters, relaxed: no thread leaves the queue, so a stale result can only miss the latest ones.
#pragma once

#include "base/platform/platform.hpp"
#include "base/sync/cell_pool.hpp"

namespace heddle::sync {

// The lock without its cells, which several queues may share: a node then fits each of them.
template <platform::Platform P>
class ClhQueue {
  using order = platform::order;

 public:
  class Cell {
    friend class ClhQueue;
    typename P::template atomic<bool> released{true};
    std::uint16_t uses = 0;  // the owner's
  };
  using Cells = CellPool<P, Cell>;

  class node {
    friend class ClhQueue;
    CellHandle<P, Cell> mine;
    Cell* before = nullptr;
  };

  explicit ClhQueue(Cells& cells) : cells_(cells), tail_(name(cells.take())) {}

  void lock(node& mine) {
    Cell* const cell = prepare(mine);
    mine.before = cell_of(tail_.exchange(name(cell), order::acq_rel));
    await_release(mine);
  }

  bool try_lock(node& mine) {
    std::uint64_t last = tail_.load(order::acquire);
    if (!cell_of(last)->released.load(order::relaxed)) return false;
    Cell* const cell = prepare(mine);
    if (!tail_.compare_exchange(last, name(cell), order::release, order::relaxed)) return false;
    mine.before = cell_of(last);
    await_release(mine);
    return true;
  }

  void unlock(node& mine) {
    Cell* const cell = mine.mine.get();
    mine.mine.replace(mine.before);
    cell->released.store(true, order::release);
  }

  // True if a thread waits behind the calling owner.
  bool has_waiters(const node& owner) const { return cell_of(tail_.load(order::relaxed)) != owner.mine.get(); }

 private:
  // A cell and the tag of its use, in one word: user-space addresses have 48 bits here.
  static constexpr unsigned address_bits = 48;

  static std::uint64_t name(const Cell* cell) {
    return reinterpret_cast<std::uintptr_t>(cell) | std::uint64_t{cell->uses} << address_bits;
  }
  static Cell* cell_of(std::uint64_t name) {
    return reinterpret_cast<Cell*>(name & ((std::uint64_t{1} << address_bits) - 1));
  }

  Cell* prepare(node& mine) {
    Cell* const cell = mine.mine.from(cells_);
    cell->released.store(false, order::relaxed);
    ++cell->uses;
    return cell;
  }

  static void await_release(const node& mine) {
    P::await(mine.before->released, order::acquire, [](bool released) { return released; });
  }

  Cells& cells_;
  alignas(platform::cache_line) typename P::template atomic<std::uint64_t> tail_;
};

template <platform::Platform P>
class ClhLock {
 public:
  using node = typename ClhQueue<P>::node;

  void lock(node& mine) { queue_.lock(mine); }
  bool try_lock(node& mine) { return queue_.try_lock(mine); }
  void unlock(node& mine) { queue_.unlock(mine); }
  bool has_waiters(const node& owner) const { return queue_.has_waiters(owner); }

 private:
  typename ClhQueue<P>::Cells cells_;
  ClhQueue<P> queue_{cells_};
};

}  // namespace heddle::sync
