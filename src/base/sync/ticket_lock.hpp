// Ticket lock: draw a number, wait until it is served.
//
// Source: Mellor-Crummey and Scott, ACM TOCS 9(1), 1991 (after Reed and Kanodia 1979); with their proportional backoff:
// a waiter's delay grows with the number of threads before it.
//
// Invariants: serving_ <= next_; they differ by the number of threads that hold or wait. Both wrap around at 2^32,
// which is more threads than there can be. Safety: mutual exclusion. Progress: starvation free, FIFO in the order of
// the draw. When: few contenders, each with a core. All watch one word, so a release costs a miss per waiter; with more
// threads than cores it collapses like every FIFO lock.
//
// Memory orders: the loads of serving_ acquire and the unlock's store releases. The draw is relaxed: it only counts.
// The owner alone writes serving_, so its own load of it is relaxed. try_lock draws only if the number is served
// already: its load of serving_ acquires, its draw is relaxed.
#pragma once

#include "base/platform/platform.hpp"
#include "base/sync/lock.hpp"

namespace heddle::sync {

template <platform::Platform P>
class TicketLock {
  using order = platform::order;

 public:
  using node = NoNode;

  void lock(node&) {
    const std::uint32_t mine = next_.fetch_add(1, order::relaxed);
    std::uint32_t before = mine - serving_.load(order::acquire);
    if (before == 0) return;
    if (before > 1) P::pause(pauses_each * before);
    P::await(serving_, order::acquire, [mine](std::uint32_t serving) { return serving == mine; });
  }

  bool try_lock(node&) {
    std::uint32_t serving = serving_.load(order::acquire);
    return next_.compare_exchange(serving, serving + 1, order::relaxed, order::relaxed);
  }

  void unlock(node&) { serving_.store(serving_.load(order::relaxed) + 1, order::release); }

 private:
  static constexpr std::uint32_t pauses_each = 4;

  typename P::template atomic<std::uint32_t> next_{0};
  alignas(platform::cache_line) typename P::template atomic<std::uint32_t> serving_{0};
};

}  // namespace heddle::sync
