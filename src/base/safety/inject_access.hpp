// Submission "inject": operations that the network takes from many threads at once go to it without a lock, receives
// are announced to the matching thread, and everything else waits for the lock.
//
// Source: Díaz-Martín 2014 has it for threads of one address space. Over shared memory a short message costs one
// compare-and-swap on the sender's side where a lock costs two atomic operations, and a sender never waits for a thread
// that polls or matches.
#pragma once

#include "base/safety/lock_access.hpp"

namespace heddle::safety {

template <sync::Lock Lock, Environment Env>
class InjectAccess : public LockAccess<Lock, Env> {
 public:
  static constexpr bool injects = true;
  static constexpr bool announces = true;
  using LockAccess<Lock, Env>::LockAccess;

  template <class F>
  bool inject(F&& f) {
    return f();
  }
};

}  // namespace heddle::safety
