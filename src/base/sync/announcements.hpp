// Announcements: many threads leave something for an owner, in order, and never wait; the owner can close the gate, and
// whoever announces from then on is told to come itself.
//
// Source: ours, for receives that are posted beside the thread that matches messages (messaging/message/matching.hpp): the owner takes
// what was announced when a message comes that nothing fits, and as long as a message waits unmatched the gate is closed.
// The list is Treiber's stack (Systems programming: coping with parallelism, 1986), of which the owner takes all and
// turns it round; so there is no ABA, and no node is read that its thread may have back.
//
// Invariants: newest_ is the last that was announced and not taken, each linked to the one before it. Only the owner
// takes, closes and opens; owners exclude each other.
// Order: that of the swaps on newest_. If one announcement returned before another began, it comes out first.
// Progress: announce is lock free (a swap fails only because another one succeeded); the rest is wait free.
// Nothing is forgotten: of an announcement and a close(), either close() says that something is there, or announce()
// says that the gate is closed.
//
// Memory orders: the swap that announces, the look at the gate behind it, closing and the look at newest_ behind that are
// sequentially consistent: each writes one word and reads the other (Dekker). The swap also releases the node, the exchange
// that takes acquires it. Opening, relaxed: who reads it has announced before any later close() looks. The looks of the owner
// at what it may take, relaxed: what it misses is concurrent, or close() sees it.
#pragma once

#include "base/platform/platform.hpp"

namespace heddle::sync {

// Links: next(node), set_next(node, other), of a link that is the list's as long as the node is in it.
template <platform::Platform P, class Node, class Links>
class Announcements {
  using order = platform::order;

 public:
  // Any thread. True: it is left to the owner; false: the gate is closed, and the caller must see to it that the owner,
  // or itself as the owner, takes it.
  bool announce(Node& node) {
    Node* before = newest_.load(order::relaxed);
    do {
      Links::set_next(node, before);
    } while (!newest_.compare_exchange(before, &node, order::seq_cst, order::relaxed));
    return !closed_.load(order::seq_cst);
  }

  // Anybody, a hint to others than the owner: whether there is something to take.
  bool any() const { return newest_.load(order::relaxed) != nullptr; }

  // The owner: all that was announced, linked in the order of announcing; null if there is nothing.
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

  // The owner: whether something was announced that has not been told of the gate.
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
