// Mutual exclusion of threads of any runtime, for locks that are held for a few instructions: where a kernel thread
// would sleep, a user-level one lets others run (FutexLock parks through the platform, which does that).
//
// The library uses it wherever a std::mutex would put a kernel thread to sleep that has other user-level threads to
// run.
#pragma once

#include "base/platform/native.hpp"
#include "base/sync/futex_lock.hpp"

namespace heddle::threads {

class Mutex {
  using Lock = sync::FutexLock<platform::Native>;

 public:
  void lock() {
    Lock::node node;
    lock_.lock(node);
  }
  bool try_lock() {
    Lock::node node;
    return lock_.try_lock(node);
  }
  void unlock() {
    Lock::node node;
    lock_.unlock(node);
  }

 private:
  Lock lock_;
};

}  // namespace heddle::threads
