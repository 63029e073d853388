// A futex mutex for many more threads than cores.
//
// Waiters look for a short while and then sleep. Of the sleepers at most one is awake and trying at any time: whoever
// unlocks wakes nobody while an earlier one that was woken is still on its way. So the lock holder keeps the core and
// the cache while it has work, a wake-up is paid once per sleep and not once per unlock, and throughput does not
// depend on how many wait.
//
// Source: the state word (locked, a wake-up is on its way, number of sleepers) is that of Go's sync.Mutex; the sleep
// is a counting semaphore on a futex (Drepper, Futexes are tricky, 2011).
//
// Invariants: the count of sleepers is that of threads that have announced their sleep and were given no permit yet.
// A permit is issued only together with taking one off that count and setting `waking`; the thread that consumes it
// clears `waking` in the same step in which it takes the lock or announces its next sleep.
// Safety: mutual exclusion. Progress: deadlock free; no wake-up is lost, since an announced sleeper is seen by the
// unlock that follows. No order is promised, and a thread can be overtaken without bound.
// When: the default where threads outnumber cores. The FIFO spin locks beat it only when every waiter has a core.
//
// The lock is taken by setting its bit, whatever else the word holds: a compare-and-swap that expects a free word fails
// whenever somebody sleeps, and the second attempt that it then takes cost 64 threads half of their throughput.
//
// Memory orders: taking the lock acquires and unlocking releases, on state_, so that critical sections are ordered.
// All else is relaxed: looks at the state that fail and the permits carry no data, they only decide who tries again.
#pragma once

#include "platform/platform.hpp"
#include "sync/lock.hpp"

namespace heddle::sync {

template <platform::Platform P, platform::Scope Where = platform::Scope::process>
class FutexLock {
  using order = platform::order;

 public:
  using node = NoNode;

  void lock(node& mine) {
    if (!try_lock(mine)) lock_slowly();
  }

  bool try_lock(node&) { return (state_.fetch_or(locked, order::acquire) & locked) == 0; }

  void unlock(node&) {
    const std::uint32_t left = state_.fetch_sub(locked, order::release) - locked;
    if (left >= sleeper && (left & waking) == 0) wake_one(left);
  }

 private:
  // Parts of state_: two flags, and the number of sleepers above them.
  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t waking = 2;
  static constexpr std::uint32_t sleeper = 4;
  static constexpr std::uint32_t longest_pause = 64;  // before going to sleep

  [[gnu::noinline]] void lock_slowly() {
    std::uint32_t woken = 0;  // `waking` once this thread has been woken, and has to clear it
    for (;;) {
      std::uint32_t seen = look_around();
      if ((seen & locked) == 0) {
        if (state_.compare_exchange(seen, (seen | locked) & ~woken, order::acquire, order::relaxed)) return;
      } else if (state_.compare_exchange(seen, (seen + sleeper) & ~woken, order::relaxed, order::relaxed)) {
        sleep();
        woken = waking;
      }
    }
  }

  // A few looks, further and further apart: each takes the line from the owner.
  std::uint32_t look_around() const {
    std::uint32_t seen = state_.load(order::relaxed);
    for (std::uint32_t pauses = 2; (seen & locked) != 0 && pauses <= longest_pause; pauses *= 2) {
      P::pause(pauses);
      seen = state_.load(order::relaxed);
    }
    return seen;
  }

  void sleep() {
    for (;;) {
      std::uint32_t permits = permits_.load(order::relaxed);
      if (permits == 0) {
        P::park(permits_, 0, Where);
      } else if (permits_.compare_exchange(permits, permits - 1, order::relaxed, order::relaxed)) {
        return;
      }
    }
  }

  // Gives up as soon as another thread has the lock or is awake and trying: its own unlock will wake the
  // next.
  [[gnu::noinline]] void wake_one(std::uint32_t seen) {
    while (seen >= sleeper && (seen & (locked | waking)) == 0) {
      if (state_.compare_exchange(seen, (seen - sleeper) | waking, order::relaxed, order::relaxed)) {
        permits_.fetch_add(1, order::relaxed);
        P::unpark(permits_, 1, Where);
        return;
      }
    }
  }

  typename P::template atomic<std::uint32_t> state_{0};
  typename P::template atomic<std::uint32_t> permits_{0};
};

}  // namespace heddle::sync
