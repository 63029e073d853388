// Postings: what many threads post for an owner to match with what comes, without waiting for it (announcements.hpp). The owner keeps what
// it has accepted of that in lists of its own.
//
// Source: ours, for the receives of messaging/message/matching.hpp. While something that came waits unmatched the gate is closed, and a thread that
// posts then has to become the owner: so a posting and what fits it never miss each other.
//
// Invariants: the gate is closed from the time when something is kept unmatched until open(), by the owner that has taken the last of it.
// Postings of one thread are accepted in order. At a closed gate only settle() accepts them: threads that were told of it come, and each
// first finds what was there before.
// Progress: announce() is lock free; all else is the owner's, and owners exclude each other.
//
// Memory orders: none of its own; see announcements.hpp.
#pragma once

#include "base/platform/platform.hpp"
#include "base/sync/announcements.hpp"

namespace heddle::sync {

// Links: as of Announcements. What was posted is returned linked in order; the owner may use the same links for its lists.
template <platform::Platform P, class Node, class Links>
class Postings {
 public:
  // Any thread. False: the caller must see to it that somebody settles.
  [[gnu::always_inline]] bool announce(Node& node) { return announced_.announce(node); }

  // The owner: what was posted, unless the gate is closed; null: nothing.
  [[gnu::always_inline]] Node* gather() {
    return announced_.any() && !announced_.is_closed() ? announced_.take() : nullptr;
  }

  // The owner, on behalf of those who were told of the gate: each goes to match(node), which matches it with what was there, or accepts it.
  template <class Match>
  void settle(Match&& match) {
    Node* next = announced_.take();
    while (next != nullptr) {
      Node& node = *next;
      next = Links::next(node);
      match(node);
    }
  }

  // The owner, about to keep something unmatched: from here on a thread that posts is told so. Returns what has just been posted; if
  // that fits, the owner opens again and keeps nothing.
  Node* close() { return !announced_.is_closed() && announced_.close() ? announced_.take() : nullptr; }
  // Nothing is kept unmatched any more.
  void open() { announced_.open(); }

 private:
  Announcements<P, Node, Links> announced_;
};

}  // namespace heddle::sync
