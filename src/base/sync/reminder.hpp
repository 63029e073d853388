// Reminder: work that is left behind for a while is looked at soon, by a thread that sleeps until a timer goes off.
//
// Source: ours. One word says whether the timer is set, so that a burst of such work sets it once. Nothing is lost: who has left
// something and finds the timer set comes before the thread that it wakes takes the word back, and that thread looks after it has.
// Who asks while the timer is set, as almost always where much is left, only reads: of that and the word taken back, with a fence of the
// platform between each and what is left, either the one sees the other's store or the other way round.
// Progress: one exchange each.
//
// Memory orders: the fences, asymmetric ones, order "something is left", "is the timer set?" against "the timer is not set", "is something
// left?". The exchange of who sets the timer releases what has been left, and taking the word back acquires that.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P>
class Reminder {
  using order = platform::order;

 public:
  // Any thread, after it has left something: whether it is the one to set the timer.
  bool ask() {
    P::light_fence();
    return set_.load(order::relaxed) == 0 && set_.exchange(1, order::acq_rel) == 0;
  }
  // The timer has gone off, and what was left is looked at from here on.
  void begin() {
    set_.exchange(0, order::acq_rel);
    P::heavy_fence();
  }

 private:
  typename P::template atomic<std::uint32_t> set_{0};
};

}  // namespace heddle::sync
