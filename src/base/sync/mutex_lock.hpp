// The mutex of the operating system (pthread_mutex_t) behind the interface of this library's locks.
//
// Source: POSIX; the lock of the model `mtx` of Dang 2017 and of LockQ-MTX of Amer 2019. Safety: mutual exclusion.
// Progress: deadlock free. No order is promised: a running thread may overtake a sleeping one. When: as the baseline,
// and wherever a debugger or a sanitizer should understand the lock. Memory orders: the platform's; lock acquires,
// unlock releases.
#pragma once

#include "base/platform/platform.hpp"
#include "base/sync/lock.hpp"

namespace heddle::sync {

template <platform::Platform P>
class MutexLock {
 public:
  using node = NoNode;

  void lock(node&) { mutex_.lock(); }
  bool try_lock(node&) { return mutex_.try_lock(); }
  void unlock(node&) { mutex_.unlock(); }

 private:
  typename P::mutex mutex_;
};

}  // namespace heddle::sync
