// The Nemesis queue: many producers, one consumer, in memory that processes map at different addresses.
//
// Source: Buntinas, Mercier and Gropp, CCGRID 2006; the receive queue of MPICH and of AzequiaMPI (LFQ). Items are the
// nodes themselves; they live in the same mapping as the queue and are named by their distance from it.
//
// Invariants: tail_ is 0 if and only if the queue is empty or all its nodes are dequeued. head_ is written by the
// producer that finds it empty, and cleared by the consumer, which goes on in shadow_, a line of its own. Order: total,
// that of the swaps. Progress: enqueue is wait free. dequeue is, too: where the original waits for a producer that has
// swapped and not linked itself, it says empty; the item comes with a later call. When: receive queues in shared
// memory. In the library: not used; a slot of slot_ring.hpp carries the message itself. It is measured beside that.
//
// Memory orders:
// - swap on tail_, acq_rel: publishes the node's next, cleared, to the producer that comes next;
// - stores to head_ and next, release, and their loads, acquire: hand over the node and what it carries;
// - the consumer clears head_ relaxed: the producer that sets it next has learnt from tail_, which the consumer
//   cleared later;
// - compare_exchange on tail_, release: so that this clearing comes first. Failure means that a producer is linking
//   itself, no more: relaxed.
#pragma once

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P>
class NemesisQueue {
  using order = platform::order;
  using Distance = std::int64_t;  // from the queue to a node; 0 stands for none

 public:
  // The base of what is queued.
  class node {
    friend class NemesisQueue;
    typename P::template atomic<Distance> next{0};
  };

  NemesisQueue() = default;
  NemesisQueue(const NemesisQueue&) = delete;
  NemesisQueue& operator=(const NemesisQueue&) = delete;

  void enqueue(node& fresh) {
    fresh.next.store(0, order::relaxed);
    const Distance here = distance(fresh);
    const Distance before = tail_.exchange(here, order::acq_rel);
    (before == 0 ? head_ : at(before)->next).store(here, order::release);
  }

  // Null if empty. Only one thread at a time may be here.
  node* dequeue() {
    Distance first = shadow_.get();
    if (first == 0) {
      first = head_.load(order::acquire);
      if (first == 0) return nullptr;
      shadow_.set(first);
      head_.store(0, order::relaxed);
    }
    node* const taken = at(first);
    Distance next = taken->next.load(order::acquire);
    if (next == 0) {
      Distance last = first;
      if (tail_.compare_exchange(last, 0, order::release, order::relaxed)) {
        shadow_.set(0);
        return taken;
      }
      next = taken->next.load(order::acquire);
      if (next == 0) return nullptr;
    }
    shadow_.set(next);
    return taken;
  }

 private:
  Distance distance(const node& n) const {
    return reinterpret_cast<std::intptr_t>(&n) - reinterpret_cast<std::intptr_t>(this);
  }
  node* at(Distance d) { return reinterpret_cast<node*>(reinterpret_cast<std::intptr_t>(this) + d); }

  alignas(platform::cache_line) typename P::template atomic<Distance> tail_{0};
  typename P::template atomic<Distance> head_{0};
  alignas(platform::cache_line) typename P::template plain<Distance> shadow_{0};  // the consumer's
};

}  // namespace heddle::sync
