// Backlog: what could not be sent yet, in order, for one peer; changed under a lock, looked at without.
//
// Source: ours. A sender that needs no lock (a slot of a ring, a flux) may go past the backlog only if there is nothing in it, so
// that messages of one thread stay in order: it looks at `head`. Whoever sees it empty may send past what was in it: that
// has been sent by then.
//
// Whoever appends first must wake a thread that sleeps (append says so): one that fell asleep before there was a backlog has not
// asked for room, and the caller may never come back. One that falls asleep later asks (SlotProducer::ask_for_room).
//
// Memory orders: `head` is released by who takes something out, and acquired by who looks without the lock: if that one sees it empty,
// it also sees that what was in it has been sent. With the lock held, relaxed; and so when something comes in: who sees that goes for
// the lock.
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

  // With the lock held. True: it is the first, and whoever sleeps for this rank has to be woken.
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

  // With the lock held: sends from the front for as long as send(item) says that it was, and drops what was. How many.
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

  // With the lock held: of the first `most` those that goes_first(item) is true for come before the others. Both keep their order, and
  // whoever looks without the lock sees at no time that there are none.
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

  // With the lock held: takes out the first item that matches(item) says it is; null if there is none.
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
