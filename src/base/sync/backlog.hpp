// Backlog: messages that could not be sent yet, in order, for one peer; changed under a lock, read without.
//
// Source: ours. A sender that needs no lock (a slot of a ring, a flux) may bypass the backlog only if it is empty, so
// that messages of one thread stay in order: it reads `head`. A sender that sees it empty may send: the former items
// have been sent by then.
//
// The first append must wake a blocked thread (append returns true): a thread that blocked before there was a backlog
// has not asked for room, and the caller may never come back. A thread that blocks later asks
// (SlotProducer::ask_for_room).
//
// Memory orders: the thread that removes an item releases `head`, and a thread that reads it without the lock acquires
// it: if it reads empty, it also sees that the former items have been sent. With the lock held, relaxed; and so when an
// item is added: a thread that sees it takes the lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::sync {

// Links: next(item), set_next(item, other).
template <platform::Platform P, class Item, class Links>
class Backlog {
  using order = platform::order;

 public:
  // Any thread.
  bool empty() const { return head_.load(order::acquire) == nullptr; }

  // With the lock held. True: it is the first, and the blocked threads of this rank have to be woken.
  bool append(Item& item) {
    Links::set_next(item, nullptr);
    Item* const last = tail_.get();
    if (last == nullptr) {
      head_.store(&item, order::relaxed);
    } else {
      Links::set_next(*last, &item);
    }
    tail_.set(&item);
    return last == nullptr;
  }

  // With the lock held: sends from the front for as long as send(item) returns true, and drops the sent items. Returns
  // their number.
  template <class Send, class Drop>
  std::uint32_t flush(Send&& send, Drop&& drop) {
    std::uint32_t sent = 0;
    while (Item* const item = head_.load(order::relaxed)) {
      if (!send(*item)) break;
      Item* const next = Links::next(*item);
      if (next == nullptr) tail_.set(nullptr);
      head_.store(next, order::release);
      drop(*item);
      ++sent;
    }
    return sent;
  }

  // With the lock held: the first; null if there is none.
  Item* front() const { return head_.load(order::relaxed); }

  // With the lock held: of the first `most` items those for which goes_first(item) is true come before the others. Both
  // keep their order, and a thread that reads without the lock never sees it empty meanwhile.
  template <class GoesFirst>
  void bring_forward(std::size_t most, GoesFirst&& goes_first) {
    struct Chain {
      Item* first = nullptr;
      Item* last = nullptr;
      void append(Item& item) {
        if (last == nullptr) {
          first = &item;
        } else {
          Links::set_next(*last, &item);
        }
        last = &item;
      }
    } forward, left;
    Item* item = head_.load(order::relaxed);
    for (; item != nullptr && most != 0; --most) {
      Item* const next = Links::next(*item);
      (goes_first(*item) ? forward : left).append(*item);
      item = next;
    }
    if (forward.first == nullptr || left.first == nullptr) return;  // as it was
    Links::set_next(*forward.last, left.first);
    Links::set_next(*left.last, item);
    if (item == nullptr) tail_.set(left.last);
    head_.store(forward.first, order::relaxed);
  }

  // With the lock held: removes the first item for which matches(item) is true; null if there is none.
  template <class Matches>
  Item* remove(Matches&& matches) {
    Item* before = nullptr;
    Item* item = head_.load(order::relaxed);
    while (item != nullptr && !matches(*item)) {
      before = item;
      item = Links::next(*item);
    }
    if (item == nullptr) return nullptr;
    Item* const next = Links::next(*item);
    if (next == nullptr) tail_.set(before);
    if (before == nullptr) {
      head_.store(next, order::release);
    } else {
      Links::set_next(*before, next);
    }
    return item;
  }

 private:
  typename P::template atomic<Item*> head_{nullptr};
  typename P::template plain<Item*> tail_{nullptr};
};

}  // namespace heddle::sync
