// Oldest first: messages that come to one reader by several paths, taken in the order of their stamps.
//
// Source: ours. Díaz-Martín and Rico-Gallego 2014 number the messages of each flux, and take those of different threads
// as concurrent; here messages that are ordered by anything, by one thread or by threads that synchronize, are taken in
// that order.
//
// A sender draws a stamp, larger than the stamps of all messages ordered before, and then publishes the message on any
// path that keeps its own order (fast_buffer.hpp, slot_ring.hpp). The reader polls the fronts of all paths, and again
// as long as it finds an older one than before.
//
// Safety: no message that was sent before the returned one arrives later. A reader that has seen a message sees all
// that was published before it, also on paths that it has polled already, and paths that have been made since: hence
// the second poll, and the paths that join before it. Progress: each poll but the last finds an older message, of which
// there are as many as there are paths.
//
// Memory orders: none of its own; each path releases and acquires its messages, and so all messages sent before them.
#pragma once

namespace heddle::sync {

// poll(front) replaces front by the oldest that it finds if that is older; true if it did. join() adds paths that have
// appeared.
template <class Front, class Poll, class Join>
[[gnu::always_inline]] inline Front oldest(Poll&& poll, Join&& join) {
  Front front;
  while (poll(front)) join();
  return front;
}

}  // namespace heddle::sync
