// Postings: nodes that many threads post for an owner, which matches them with arrivals, without waiting for it
// (announcements.hpp). The owner stores the accepted ones in lists of its own.
//
// Source: ours, for the receives of messaging/message/matching.hpp. While an arrival waits unmatched the gate is closed, and a
// thread that posts then has to become the owner: so a posting and its match never miss each other.
//
// Invariants: the gate is closed from the time when an arrival is stored unmatched until open(), by the owner that has
// taken the last of them. Postings of one thread are accepted in order. At a closed gate only match_posted() accepts them:
// threads that were told of it call it, and each first tries the unmatched arrivals. Progress: announce() is lock free;
// all else is the owner's, and owners exclude each other.
//
// Memory orders: none of its own; see announcements.hpp.
#pragma once

#include "base/platform/platform.hpp"
#include "base/sync/announcements.hpp"

namespace heddle::sync {

// Links: see Announcements. Postings are returned linked in order; the owner may use the same links for its lists.
template <platform::Platform P, class Node, class Links>
class Postings {
 public:
  // Any thread. False: the caller must ensure that an owner calls match_posted().
  [[gnu::always_inline]] bool announce(Node& node) { return announced_.announce(node); }

  // The owner: the postings, unless the gate is closed; null: none.
  [[gnu::always_inline]] Node* gather() {
    return announced_.any() && !announced_.is_closed() ? announced_.take() : nullptr;
  }

  // The owner, on behalf of the threads that were told of the gate: each posting goes to match(node), which matches it
  // with an unmatched arrival, or accepts it.
  template <class Match>
  void match_posted(Match&& match) {
    Node* next = announced_.take();
    while (next != nullptr) {
      Node& node = *next;
      next = Links::next(node);
      match(node);
    }
  }

  // The owner, before it stores an arrival unmatched: from here on a thread that posts is told so. Returns the latest
  // postings; if one matches, the owner opens again and stores nothing.
  Node* close() { return !announced_.is_closed() && announced_.close() ? announced_.take() : nullptr; }
  // No arrival is stored unmatched any more.
  void open() { announced_.open(); }

 private:
  Announcements<P, Node, Links> announced_;
};

}  // namespace heddle::sync
