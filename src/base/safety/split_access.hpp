// Submission "split": short messages wait for a lock of their own, everything else for the other: threads that send and
// a thread that polls and matches go on side by side.
//
// Source: Trahay 2009, section 3.2 and Fig. 4 ("fine-grain locking"): a lock for the lists of messages to send, and one
// for each list of the transfer layer. Here sends go straight to the network, so two locks remain. The price is the
// paper's too: a message takes one lock more than with a single one.
#pragma once

#include "base/safety/lock_access.hpp"

namespace heddle::safety {

template <sync::Lock Lock, Environment Env>
class SplitAccess : public LockAccess<Lock, Env> {
 public:
  static constexpr bool injects = true;

  template <class... Args>
  explicit SplitAccess(typename Env::Counters& counters, const Args&... args)
      : LockAccess<Lock, Env>(counters, args...), sending_(args...) {}

  template <class F>
  bool inject(F&& f) {
    typename LockAccess<Lock, Env>::Node node(&sending_);
    Env::acquire_beside(this->counters_, sending_, *node);
    const Held<Lock> held(sending_, *node);
    return f();
  }

 private:
  alignas(platform::cache_line) Lock sending_;
};

}  // namespace heddle::safety
