// Announcements: many threads leave nodes for an owner, in order, and never wait; the owner can close the gate, and a
// thread that announces from then on is told to become the owner.
//
// Source: ours, for receives that are posted beside the thread that matches messages (messaging/message/matching.hpp): the owner
// takes the announced receives when a message matches no accepted one, and as long as a message waits unmatched the
// gate is closed. The list is Treiber's stack (Systems programming: coping with parallelism, 1986), of which the owner
// takes all and turns it round; so there is no ABA, and no node is read that its thread may have back.
//
// Invariants: newest_ is the last that was announced and not taken, each linked to the one before it. Only the owner
// takes, closes and opens; owners exclude each other. Order: that of the swaps on newest_. If one announcement returned
// before another began, it comes out first. Progress: announce is lock free (a swap fails only because another one
// succeeded); the rest is wait free. No announcement is lost: of an announcement and a close(), either close() reports
// it, or announce() reports that the gate is closed.
//
// Memory orders: the swap that announces, the read of the gate behind it, closing and the read of newest_ behind that
// are sequentially consistent: each writes one word and reads the other (Dekker). The swap also releases the node, the
// exchange that takes acquires it. Opening, relaxed: a thread that reads it has announced before the read of any later
// close(). The owner's check for nodes, relaxed: a node that it misses is concurrent, or close() sees it.
#pragma once

#include "base/platform/platform.hpp"

namespace heddle::sync {

// Links: next(node), set_next(node, other), of a link that is the list's as long as the node is in it.
template <platform::Platform P, class Node, class Links>
class Announcements {
  using order = platform::order;

 public:
  // Any thread. True: the node is left to the owner; false: the gate is closed, and the caller must ensure that the
  // owner, or itself as the owner, takes it.
  bool announce(Node& node) {
    Node* before = newest_.load(order::relaxed);
    do {
      Links::set_next(node, before);
    } while (!newest_.compare_exchange(before, &node, order::seq_cst, order::relaxed));
    return !closed_.load(order::seq_cst);
  }

  // Any thread, a hint to others than the owner: true if there is something to take.
  bool any() const { return newest_.load(order::relaxed) != nullptr; }

  // The owner: all announced nodes, linked in the order of announcing; null if there are none.
  Node* take() {
    if (!any()) return nullptr;
    Node* node = newest_.exchange(nullptr, order::acquire);
    Node* taken = nullptr;
    while (node != nullptr) {
      Node* const before = Links::next(*node);
      Links::set_next(*node, taken);
      taken = node;
      node = before;
    }
    return taken;
  }

  // The owner: true if a node was announced by a thread that has not seen the closed gate.
  bool close() {
    closed_.store(true, order::seq_cst);
    return newest_.load(order::seq_cst) != nullptr;
  }
  void open() { closed_.store(false, order::relaxed); }
  bool is_closed() const { return closed_.load(order::relaxed); }

 private:
  typename P::template atomic<Node*> newest_{nullptr};
  typename P::template atomic<bool> closed_{false};
};

}  // namespace heddle::sync
