// Postings: what many threads post for an owner to match with what comes, without waiting for it (announcements.hpp), and what the
// owner has taken in of that.
//
// Source: ours, for the receives of one bin (message/matching.hpp). While something that came waits unmatched the gate is closed, and who
// posts then comes itself: so a posting and what fits it never miss each other.
//
// Invariants: the gate is closed from the time when something is kept unmatched until open(), by whoever has taken the last of it.
// Postings of one thread are taken in in order. At a closed gate only settle() takes them in: those who were told come, and each
// first finds what was there before.
// Progress: announce() is lock free; all else is the owner's, and owners exclude each other.
//
// Memory orders: none of its own; see announcements.hpp.
#pragma once

#include "platform/platform.hpp"
#include "sync/announcements.hpp"

namespace heddle::sync {

// Links: as of Announcements. List: append(node); it may use the same links, as a node is in one of the two.
template <platform::Platform P, class Node, class Links, class List>
class Postings {
 private:
  Announcements<P, Node, Links> announced_;

 public:
  List posted;

  // Any thread. False: the caller must see to it that somebody settles.
  [[gnu::always_inline]] bool announce(Node& node) { return announced_.announce(node); }

  // The owner: takes in what was posted, unless the gate is closed; whether there was something.
  [[gnu::always_inline]] bool gather() { return announced_.any() && !announced_.is_closed() && take_in(); }

  // The owner, on behalf of those who were told of the gate: each goes to match(node), which says whether something fitted that was
  // there, and else into the list.
  template <class Match>
  void settle(Match&& match) {
    Node* next = announced_.take();
    while (next != nullptr) {
      Node& node = *next;
      next = Links::next(node);
      if (!match(node)) posted.append(node);
    }
  }

  // The owner, about to keep something unmatched: from here on who posts is told so; unless search() finds one that fits in the list,
  // because it has just been posted. That one is returned, and nothing is to be kept.
  template <class Search>
  [[gnu::always_inline]] Node* close(Search&& search) {
    if (announced_.is_closed() || !announced_.close()) return nullptr;
    (void)take_in();
    Node* const found = search();
    if (found != nullptr) announced_.open();
    return found;
  }
  // Nothing is kept unmatched any more.
  void open() { announced_.open(); }

 private:
  [[gnu::noinline]] bool take_in() {
    Node* next = announced_.take();
    if (next == nullptr) return false;
    while (next != nullptr) {
      Node& node = *next;
      next = Links::next(node);
      posted.append(node);
    }
    return true;
  }
};

}  // namespace heddle::sync
