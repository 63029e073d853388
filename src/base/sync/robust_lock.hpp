// Robust lock: a lock in shared memory whose owner may die while it holds it. The word says who holds it, by a number that its process
// has for life; once somebody has told that this one is gone for good, whoever comes next takes the lock over.
//
// Source: the idea is that of robust mutexes (POSIX.1-2008); theirs are told by the kernel, which ends a list of each thread, ours by a
// detector of failures that the caller brings. Test-and-set, since it guards what is rare.
//
//     lock.acquire(me, gone)      gone(number): has that one died? Never true of the living, and true for ever
//     lock.release()
//
// What the lock guards has to be right after each single store, because the dead may have stopped at any of them. Their stores are seen
// by who takes over: they come before the news of the death, which gone() acquires.
//
// Invariants: the word is 0 or 1 more than the number of one that holds it, or has died holding it. The dead write no more, so a word
// that names one changes only by the swap of the one that takes over.
// Progress: whoever waits yields; unlike with a plain lock, the death of an owner holds nobody up for ever.
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
