// Submission "flux": as "inject", but short messages go through fluxes, which no two threads share, receives are
// announced to the matching thread, and everything else waits for the lock, draining too.
//
// Source: Díaz-Martín 2014, section IV. There each thread has queues of posted receives and of unexpected messages of
// its own; here the receives that it announces are in bins by source and tag, which threads share only if they receive
// the same message (messaging/message/matching.hpp).
#pragma once

#include "base/safety/inject_access.hpp"

namespace heddle::safety {

template <sync::Lock Lock, Environment Env>
class FluxAccess : public InjectAccess<Lock, Env> {
 public:
  static constexpr bool by_flux = true;
  using InjectAccess<Lock, Env>::InjectAccess;
};

}  // namespace heddle::safety
