// MCS: a queue lock in which every waiter watches its own node.
//
// Source: Mellor-Crummey and Scott, ACM TOCS 9(1), 1991; the lock of the models `global` and `per-vni` of Amer 2019.
//
// Invariants: tail_ is the last node of the queue, null if the lock is free. The owner's node is the first. A node is
// linked by the store to its predecessor's `next`; until then the predecessor can't leave the queue. Safety: mutual
// exclusion. Progress: starvation free, FIFO in the order of the exchange on tail_. When: contended locks whose waiters
// all have a core; remote misses per hand-over are constant, and nodes may live on the stack. With more threads than
// cores the next in line is mostly not running, and throughput collapses: take FutexLock there.
//
// Memory orders:
// - exchange on tail_, acq_rel: acquires from the owner that left the queue empty; releases the node's initial `next`
//   to the successor, whose store to it must come later;
// - store to next, release, and loads of next, acquire: the successor's clearing of `granted` must come before the
//   owner's store of true to it;
// - store to granted, release, and its await, acquire: hand over the critical section;
// - compare_exchange on tail_ in unlock, release: hands it over to the next thread, which finds the queue empty.
//   Failure means that
//   a successor is about to link itself, and says nothing else: relaxed;
// - compare_exchange in try_lock, acq_rel: as the exchange. Failure touches nothing: relaxed.
#pragma once

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P>
class McsLock {
  using order = platform::order;

 public:
  class node {
    friend class McsLock;
    typename P::template atomic<node*> next{nullptr};
    typename P::template atomic<bool> granted{false};
  };

  void lock(node& mine) {
    mine.next.store(nullptr, order::relaxed);
    mine.granted.store(false, order::relaxed);
    node* const before = tail_.exchange(&mine, order::acq_rel);
    if (before == nullptr) return;
    before->next.store(&mine, order::release);
    P::await(mine.granted, order::acquire, [](bool granted) { return granted; });
  }

  bool try_lock(node& mine) {
    mine.next.store(nullptr, order::relaxed);
    node* none = nullptr;
    return tail_.compare_exchange(none, &mine, order::acq_rel, order::relaxed);
  }

  void unlock(node& mine) {
    node* after = mine.next.load(order::acquire);
    if (after == nullptr) {
      node* last = &mine;
      if (tail_.compare_exchange(last, nullptr, order::release, order::relaxed)) return;
      after = P::await(mine.next, order::acquire, [](node* linked) { return linked != nullptr; });
    }
    after->granted.store(true, order::release);
  }

 private:
  typename P::template atomic<node*> tail_{nullptr};
};

}  // namespace heddle::sync
