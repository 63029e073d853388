// Submission "flux": short messages go through fluxes, which no two threads share (lln/shm/flux.hpp), receives are
// announced to whoever matches, and everything else waits for the lock, draining too.
//
// Source: Díaz-Martín 2014, section IV. There each thread has queues of posted receives and of unexpected messages of its own; here
// the receives that it announces are in bins by source and tag, which threads share only if they ask for the same message
// (p2p/matching.hpp).
#pragma once

#include "safety/lock_access.hpp"

namespace heddle::safety {

template <sync::Lock Lock>
class FluxAccess : public LockAccess<Lock> {
 public:
  static constexpr bool injects = true;
  static constexpr bool announces = true;
  static constexpr bool by_flux = true;
  using LockAccess<Lock>::LockAccess;

  template <class F>
  bool inject(F&& f) {
    return f();
  }
};

}  // namespace heddle::safety
