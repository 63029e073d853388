// A futex mutex for many more threads than cores.
//
// Waiters spin for a short while and then sleep. At most one sleeper is woken and trying at any time: an unlock
// wakes no thread while an earlier woken one is still trying. So the lock holder keeps the core and the cache while it
// has work, a wake-up is paid once per sleep and not once per unlock, and throughput does not depend on how many wait.
//
// Unlocking is a plain store: the lock is a word of its own, and the sleepers are counted in another. An unlocking
// thread stores and then reads the count, a thread that goes to sleep counts itself and then reads the lock, with the
// two halves of an asymmetric fence between (platform.hpp): the unlock, which is the common case, pays nothing for it,
// going to sleep pays once more.
//
// Source: the count of sleepers and the flag of a pending wake-up are those of Go's sync.Mutex; the sleep is a counting
// semaphore on a futex (Drepper, Futexes are tricky, 2011); the store-only release is that of biased and asymmetric
// locks (Dice, Huang and Yang, Asymmetric Dekker synchronization, 2001).
//
// Invariants: the count of sleepers is that of threads that have announced their sleep and were given no permit yet. A
// permit is issued only together with taking one off that count and setting `waking`; the thread that consumes it
// clears `waking` once it has the lock, or in the same step in which it announces its next sleep. Safety: mutual
// exclusion. Progress: deadlock free; no wake-up is lost: of an unlock and an announced sleep, either the unlock sees
// the sleeper or the sleeper sees the free lock, and then wakes the next one, itself perhaps. No order is promised, and
// a thread can be overtaken without bound. An unlock still reads the count of sleepers after the lock is free: to have
// had the lock since is not enough to destroy it. When: the default where threads outnumber cores. The FIFO spin locks
// beat it only when every waiter has a core.
//
// Memory orders: taking the lock acquires and unlocking releases, on locked_, so that critical sections are ordered.
// All else is relaxed: failed reads, the count and the permits carry no data, they only decide which thread tries
// again.
#pragma once

#include "base/platform/platform.hpp"
#include "base/sync/lock.hpp"

namespace heddle::sync {

template <platform::Platform P, platform::Scope Where = platform::Scope::process>
class FutexLock {
  using order = platform::order;

 public:
  using node = NoNode;

  void lock(node& mine) {
    if (!try_lock(mine)) lock_slowly();
  }

  bool try_lock(node&) { return locked_.exchange(1, order::acquire) == 0; }

  [[gnu::always_inline]] void unlock(node&) {
    locked_.store(0, order::release);
    P::light_fence();
    if (sleepers_.load(order::relaxed) >= sleeper) wake_one();
  }

 private:
  // Parts of sleepers_: a flag, and the number of sleepers above it.
  static constexpr std::uint32_t waking = 1;
  static constexpr std::uint32_t sleeper = 2;
  static constexpr std::uint32_t longest_pause = 64;  // before going to sleep

  [[gnu::noinline]] void lock_slowly() {
    std::uint32_t woken = 0;  // `waking` once this thread has been woken, and has to clear it
    for (;;) {
      if (seems_free() && locked_.exchange(1, order::acquire) == 0) {
        if (woken != 0) sleepers_.fetch_sub(woken, order::relaxed);
        return;
      }
      sleepers_.fetch_add(sleeper - woken, order::relaxed);
      P::heavy_fence();
      if (locked_.load(order::relaxed) == 0) wake_one();
      sleep();
      woken = waking;
    }
  }

  // A few reads, at growing intervals: each takes the line from the owner.
  bool seems_free() const {
    std::uint32_t seen = locked_.load(order::relaxed);
    for (std::uint32_t pauses = 2; seen != 0 && pauses <= longest_pause; pauses *= 2) {
      P::pause(pauses);
      seen = locked_.load(order::relaxed);
    }
    return seen == 0;
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

  // Gives up as soon as another thread has the lock or is woken and trying: its own unlock will wake the next.
  [[gnu::noinline]] void wake_one() {
    std::uint32_t seen = sleepers_.load(order::relaxed);
    while (seen >= sleeper && (seen & waking) == 0 && locked_.load(order::relaxed) == 0) {
      if (sleepers_.compare_exchange(seen, (seen - sleeper) | waking, order::relaxed, order::relaxed)) {
        permits_.fetch_add(1, order::relaxed);
        P::unpark(permits_, 1, Where);
        return;
      }
    }
  }

  typename P::template atomic<std::uint32_t> locked_{0};
  typename P::template atomic<std::uint32_t> sleepers_{0};
  typename P::template atomic<std::uint32_t> permits_{0};
};

}  // namespace heddle::sync
