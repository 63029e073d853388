// SWP: a queue of many producers and one consumer at a time, by one swap and one store.
//
// Source: Amer 2019, Fig. 4; the work queue of LockQ. Nodes are the caller's: enqueue takes one, dequeue gives one back
// (the old dummy, not the one that carried the item), free for the next enqueue. Nothing allocates.
//
// Invariants: head_ is a dummy; the items are those of the nodes behind it. Only the last node has a null `next`, or
// one whose successor has swapped tail_ and not linked itself yet. Consumers exclude each other (LockQ: the lock does).
// Order: total, that of the swaps. If one enqueue returned before another began, its item comes out first. Progress:
// enqueue and dequeue are wait free. Not linearizable: a producer that is stopped between its swap and its store hides
// its item and all later ones; dequeue says empty meanwhile. When: work queues whose producers come back to poll for
// completion. If a stopped producer must hide no other item: TicketQueue. Between processes: NemesisQueue. In the
// library: not used; LockQ has TicketQueue, where a stopped producer hides nothing. It is measured beside that.
//
// Memory orders: the swap, acq_rel: publishes the node's null `next` to the producer that comes next and overwrites it.
// Store to next, release, load of next, acquire: hand over the item.
#pragma once

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P, class T>
class SwpQueue {
  using order = platform::order;

 public:
  class node {
    friend class SwpQueue;
    typename P::template atomic<node*> next{nullptr};
    typename P::template plain<T> item;
  };

  SwpQueue() : head_(&first_), tail_(&first_) {}

  void enqueue(node& fresh, T item) {
    fresh.item.set(item);
    fresh.next.store(nullptr, order::relaxed);
    node* const before = tail_.exchange(&fresh, order::acq_rel);
    before->next.store(&fresh, order::release);
  }

  // Null if empty; otherwise the item, and a free node.
  node* dequeue(T& item) {
    node* const dummy = head_.get();
    node* const next = dummy->next.load(order::acquire);
    if (next == nullptr) return nullptr;
    item = next->item.get();
    head_.set(next);
    return dummy;
  }

 private:
  node first_;
  typename P::template plain<node*> head_;
  alignas(platform::cache_line) typename P::template atomic<node*> tail_;
};

}  // namespace heddle::sync
