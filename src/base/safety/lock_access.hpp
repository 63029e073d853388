// Submission "wait for the lock": a thread that finds the VNI taken waits (Amer 2019, Fig. 3a; Dang 2017, Fig. 1).
//
// The interface of every kind of access:
//   run(f)       executes f(Wakeups&) alone on the VNI, as an active thread; returns when that has happened
//   run_low(f)   the same for a waiting thread: at low priority where the lock knows classes
//   try_run(f)   only if the VNI is free now; false: it was not
//   pending()    true if work of others is left for the next holder
//   submits      submit(work) exists: work that may be executed later, by another thread
//   injects      inject(f) exists: executes f, which sends a short message, concurrently with everything else
//   by_flux      the same for threads that share no way to a peer
//   announces    receives are posted concurrently with everything else (messaging/message/matching.hpp)
#pragma once

#include "base/safety/environment.hpp"
#include "base/safety/held.hpp"
#include "base/sync/lock.hpp"

namespace heddle::safety {

template <sync::Lock Lock, Environment Env>
class LockAccess {
  using Counters = typename Env::Counters;
  using Wakeups = typename Env::Wakeups;

 public:
  static constexpr bool submits = false;
  static constexpr bool injects = false;
  static constexpr bool by_flux = false;
  static constexpr bool announces = false;

  // With a lock that is made of args.
  template <class... Args>
  explicit LockAccess(Counters& counters, const Args&... args) : counters_(counters), lock_(args...) {}

  template <class F>
  [[gnu::always_inline]] void run(F&& f) {
    Wakeups wakeups;  // flushed last, after the lock is free
    Node node(&lock_);
    Env::acquire(counters_, lock_, *node);
    const Held<Lock> held(lock_, *node);
    f(wakeups);
  }

  template <class F>
  [[gnu::always_inline]] void run_low(F&& f) {
    Wakeups wakeups;
    Node node(&lock_);
    Env::acquire_low(counters_, lock_, *node);
    const Held<Lock> held(lock_, *node);
    f(wakeups);
  }

  template <class F>
  [[gnu::always_inline]] bool try_run(F&& f) {
    Wakeups wakeups;
    Node node(&lock_);
    if (!Env::try_acquire(counters_, lock_, *node)) return false;
    const Held<Lock> held(lock_, *node);
    f(wakeups);
    return true;
  }

  static constexpr bool pending() { return false; }

 protected:
  using Node = typename Env::template NodeFor<typename Lock::node>;

  Counters& counters_;

 private:
  Lock lock_;
};

}  // namespace heddle::safety
