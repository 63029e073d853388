// Test-and-set lock with exponential backoff: one word, taken by the thread that exchanges it first.
//
// Source: Anderson, IEEE TPDS 1(1), 1990.
//
// Safety: mutual exclusion. Progress: deadlock free; a thread can starve. The last owner, whose cache holds the word,
// is favoured, which keeps the data of the critical section where it is (the bias of Dang 2017, section IV-B). When:
// short critical sections and few contenders; bytes matter. It tolerates more threads than cores.
//
// Memory orders: the exchange that finds the lock free acquires, unlock releases. An exchange that finds it taken
// acquires needlessly, but one instruction can't do both.
#pragma once

#include "base/platform/platform.hpp"
#include "base/sync/backoff.hpp"
#include "base/sync/lock.hpp"

namespace heddle::sync {

template <platform::Platform P>
class TasLock {
  using order = platform::order;

 public:
  using node = NoNode;

  void lock(node& mine) {
    for (Backoff<P> backoff; !try_lock(mine);) backoff();
  }

  bool try_lock(node&) { return !taken_.exchange(true, order::acquire); }

  void unlock(node&) { taken_.store(false, order::release); }

 private:
  typename P::template atomic<bool> taken_{false};
};

}  // namespace heddle::sync
