// Election of a server among waiters: one polls for all, the others sleep on their counters until their own request is
// done, and the server hands its role over when its own is.
//
// Source: Dang 2017, Fig. 6 (selective reactivation).
//
// One Election stands beside the lock of one VNI, and everything in it is touched under that lock, except the waiters'
// counters. A waiter is a Waiter object in the waiting thread, known to the threads that complete its requests.
//
//     lock(L); ... post requests, n of them pending ...; election.expect(waiter, n);
//     election.wait(L, node, waiter, poll);       with the lock held; returns with it released
//     election.complete(waiter);                  for each request, under the lock, by the polling thread
//
// Invariants: at most one server. A waiter is in the list while it sleeps and no thread has woken it: complete() takes
// it out with its last event, force with the hand-over. While the list isn't empty there is a server, or a thread that
// was told to become one (was forced) is taking the lock, or a thread that holds the lock will force one. Safety:
// wait() returns when all events of the waiter have come. Progress: if polling completes requests, no thread waits for
// ever: a forced thread goes back through the lock, even if its own requests are complete meanwhile, and hands the role
// on. Wake-ups are O(1) a request. In the library: not used. A rank has several VNIs, and threads that must not sleep:
// server_roles.hpp. This is the figure as published, to compare with.
//
// Memory orders: none of its own; the lock orders the list, the counters order completion.
#pragma once

#include "base/platform/platform.hpp"
#include "base/sync/lock.hpp"
#include "base/sync/sync_counter.hpp"

namespace heddle::sync {

template <platform::Platform P, class Counter>
class Election {
  template <class T>
  using plain = typename P::template plain<T>;

 public:
  class Waiter {
   public:
    Counter counter;

   private:
    friend class Election;
    plain<std::uint32_t> pending{0};
    plain<bool> listed{false};
    plain<Waiter*> next{nullptr};
    plain<Waiter*> previous{nullptr};
  };

  // Before the first request of the waiter can complete; under the lock.
  void expect(Waiter& waiter, std::uint32_t events) {
    waiter.counter.expect(events);
    waiter.pending.set(events);
  }

  // One request of the waiter is done; under the lock. The waiter may be gone when this returns.
  void complete(Waiter& waiter) {
    const std::uint32_t left = waiter.pending.get() - 1;
    waiter.pending.set(left);
    if (left == 0 && waiter.listed.get()) remove(waiter);
    waiter.counter.signal();
  }

  // Waits for all events of the waiter. The lock is held on entry and free on return. poll() makes progress, is called
  // under the lock, and returns true if it made any.
  template <Lock L, class Poll>
  void wait(L& lock, typename L::node& node, Waiter& waiter, Poll poll) {
    bool serving = false;
    while (waiter.pending.get() != 0) {
      if (poll()) continue;
      if (!served_.get()) {
        serving = true;
        served_.set(true);
      }
      if (serving) {
        lock.unlock(node);
        P::yield();
        lock_low(lock, node);
      } else {
        append(waiter);
        lock.unlock(node);
        const Wake wake = waiter.counter.wait();
        if (!wake.forced) return;
        lock.lock(node);
      }
    }
    if (serving) served_.set(false);
    if (!served_.get() && first_.get() != nullptr) {
      Waiter& successor = *first_.get();
      remove(successor);
      successor.counter.force();
    }
    lock.unlock(node);
  }

 private:
  void append(Waiter& waiter) {
    Waiter* const last = last_.get();
    waiter.listed.set(true);
    waiter.next.set(nullptr);
    waiter.previous.set(last);
    (last == nullptr ? first_ : last->next).set(&waiter);
    last_.set(&waiter);
  }

  void remove(Waiter& waiter) {
    Waiter* const next = waiter.next.get();
    Waiter* const previous = waiter.previous.get();
    waiter.listed.set(false);
    (previous == nullptr ? first_ : previous->next).set(next);
    (next == nullptr ? last_ : next->previous).set(previous);
  }

  plain<bool> served_{false};
  plain<Waiter*> first_{nullptr};
  plain<Waiter*> last_{nullptr};
};

}  // namespace heddle::sync
