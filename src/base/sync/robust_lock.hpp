// Robust lock: a lock in shared memory whose owner may die while it holds it. The word names the owner, by a number
// that its process has for life; once the owner is known to be dead, the next caller takes the lock over.
//
// Source: the idea is that of robust mutexes (POSIX.1-2008); the kernel detects their dead owners by a list of each
// thread, here the caller brings a detector of failures. Test-and-set, since it guards rare operations.
//
//     lock.acquire(me, gone)      gone(number): true, and for ever, if that one has died
//     lock.release()
//
// The guarded data have to be valid after each single store, because a dead owner may have stopped at any of them. The
// next owner sees its stores: they come before the report of the death, which gone() acquires.
//
// Invariants: the word is 0 or 1 more than the number of the owner, which may have died. The dead write no more, so a
// word that names one changes only by the swap of the one that takes over. Progress: waiting threads yield; unlike with
// a plain lock, the death of an owner delays no thread for ever.
//
// Memory orders: a swap acquires what release() released.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P>
class RobustLock {
  using order = platform::order;

 public:
  template <class Gone>
  void acquire(std::uint32_t me, Gone&& gone) {
    for (;;) {
      std::uint32_t seen = 0;
      if (owner_.compare_exchange(seen, me + 1, order::acquire, order::relaxed)) return;
      if (gone(seen - 1) && owner_.compare_exchange(seen, me + 1, order::acquire, order::relaxed)) return;
      P::yield_core();
    }
  }
  void release() { owner_.store(0, order::release); }

 private:
  typename P::template atomic<std::uint32_t> owner_;
};

// Holds it for the time of a block.
template <platform::Platform P>
class RobustGuard {
 public:
  template <class Gone>
  RobustGuard(RobustLock<P>& lock, std::uint32_t me, Gone&& gone) : lock_(lock) {
    lock.acquire(me, gone);
  }
  ~RobustGuard() { lock_.release(); }
  RobustGuard(const RobustGuard&) = delete;
  RobustGuard& operator=(const RobustGuard&) = delete;

 private:
  RobustLock<P>& lock_;
};

}  // namespace heddle::sync
