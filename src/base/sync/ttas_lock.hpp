// Test-and-test-and-set lock with backoff: waiters read the word, and write to it only when it looks free.
//
// Source: Rudolph and Segall, ISCA 1984; backoff after a lost race as Anderson 1990 advises.
//
// Safety: mutual exclusion. Progress: deadlock free; a thread can starve. When: as the spin lock inside other locks
// (cohort, CLHub) and for short critical sections. Waiting costs no traffic between releases, so it tolerates more
// contenders than TasLock. With more threads than cores waiters yield.
//
// Memory orders: the exchange acquires and unlock releases. The reads before it are relaxed: the exchange checks their
// result.
#pragma once

#include "base/platform/platform.hpp"
#include "base/sync/backoff.hpp"
#include "base/sync/lock.hpp"

namespace heddle::sync {

template <platform::Platform P>
class TtasLock {
  using order = platform::order;

 public:
  using node = NoNode;

  void lock(node& mine) {
    if (!try_lock(mine)) [[unlikely]]
      lock_slowly();
  }

  bool try_lock(node&) { return !taken_.load(order::relaxed) && !taken_.exchange(true, order::acquire); }

  void unlock(node&) { taken_.store(false, order::release); }

  // Waits until the lock looks free.
  void await_free() const {
    P::await(taken_, order::relaxed, [](bool taken) { return !taken; });
  }

 private:
  [[gnu::noinline]] void lock_slowly() {
    for (Backoff<P> backoff;; backoff()) {
      await_free();
      if (!taken_.exchange(true, order::acquire)) return;
    }
  }

  typename P::template atomic<bool> taken_{false};
};

}  // namespace heddle::sync
