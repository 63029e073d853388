// DeferredTimer: deferred work is done soon, by a thread that sleeps until a timer expires.
//
// Source: ours. One word tells if the timer is set, so that a burst of such work sets it once. Nothing is lost: a
// thread that has deferred work and finds the timer set precedes the timer thread's clearing of the word, after which
// that thread checks for work. A thread that asks while the timer is set, almost always where much work is deferred,
// only reads. With a fence of the platform between each and the deferred work, either that read or the check sees the
// other's store. Progress: one exchange each.
//
// Memory orders: the fences, asymmetric ones, order "work is deferred", "is the timer set?" against "the timer is not
// set", "is work deferred?". The exchange of the thread that sets the timer releases the deferred work, and clearing
// the word acquires it.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P>
class DeferredTimer {
  using order = platform::order;

 public:
  // Any thread, after it has deferred work: true if it has to set the timer.
  bool ask() {
    P::light_fence();
    return set_.load(order::relaxed) == 0 && set_.exchange(1, order::acq_rel) == 0;
  }
  // The timer has expired, and from here on the deferred work is checked.
  void begin() {
    set_.exchange(0, order::acq_rel);
    P::heavy_fence();
  }

 private:
  typename P::template atomic<std::uint32_t> set_{0};
};

}  // namespace heddle::sync
