// The roles of a rank's sleeping threads: one is the server, the others are waiters.
//
// Source: Dang 2017, section IV-A and Fig. 6, which keeps this under the lock of the one VNI; a rank has several here,
// so it has a lock of its own. (election.hpp is the algorithm of that figure.)
//
// At most one thread is the server: it makes progress for all of them. The others sleep on their counters. When the
// server's own requests are done, it hands its role to one of the others, which it wakes by force.
//
// A user-level thread can't be a server that sleeps, since its kernel thread has others to run. It serves while
// spinning, as long as something moves, and then steps down: in favour of a kernel thread that waits, or else of the
// watch, a thread of the library that serves when no other thread does. Listeners are user-level threads that wait for
// a condition and not for requests: the watch wakes them whenever the rank's doorbell has rung, and they poll for
// themselves.
//
//     waiter.expect(n) ... publish it ...
//     bool server = roles.enter(waiter);
//     if (!server) server = !waiter.sleep().complete;    not complete: forced, and so elected
//     if (server) ... make progress until waiter.counter.complete() ...
//     roles.leave(waiter);                               the waiter may be reused
//
// Invariants, with the lock held: a waiter that has entered and not left is the server or in the list; while the list
// is not empty there is a server, or the watch serves. A forced waiter is the server when it wakes. Progress: if
// progress completes requests, no thread waits for ever: a server that leaves elects the next. A caller may wait for
// the lock, which is held for a few instructions.
//
// Memory orders: none of its own; the lock orders everything here, the counters order completion. `active_` is a hint
// to the watch, which reads it again with the lock held before it sleeps, relaxed.
#pragma once

#include <mutex>

#include "base/platform/platform.hpp"
#include "base/sync/kernel_counter.hpp"

namespace heddle::sync {

// Waiter: that of waiter.hpp. Condition: of threads that wait with Mutex, notify_one() with it held.
template <platform::Platform P, class Waiter, class Mutex, class Condition>
class ServerRoles {
  using order = platform::order;
  using Guard = std::lock_guard<Mutex>;
  template <class T>
  using plain = typename P::template plain<T>;

 public:
  // True: the caller is the server. Its counter expects its events already.
  bool enter(Waiter& me) {
    const Guard guard(lock_);
    const bool serves = server_.get() == nullptr;
    me.server.set(serves);
    if (serves) {
      server_.set(&me);
      on_watch_.set(false);
      update_active();
    } else {
      waiters_.append(me);
    }
    return serves;
  }

  // The caller waits no more.
  void leave(Waiter& me) {
    const Guard guard(lock_);
    if (!me.server.get()) {
      waiters_.remove(me);
    } else {
      server_.set(nullptr);
      if (Waiter* const next = waiters_.first.get()) elect(*next);
    }
    if (server_.get() == nullptr && waiters_.first.get() == nullptr) on_watch_.set(false);
    update_active();
  }

  // The server, a user-level thread, becomes a waiter, and a thread that can sleep takes over. False: it polls once
  // more.
  bool step_down(Waiter& me) {
    const Guard guard(lock_);
    if (called_.get()) {
      called_.set(false);
      return false;
    }
    me.server.set(false);
    server_.set(nullptr);
    Waiter* next = waiters_.first.get();
    while (next != nullptr && next->thread) next = next->next.get();
    if (next != nullptr) elect(*next);
    waiters_.append(me);
    on_watch_.set(server_.get() == nullptr);
    update_active();
    return true;
  }

  // The watch has found an event that only a thread of the program may handle: a waiting one serves again, or the
  // server goes on.
  void call_server() {
    const Guard guard(lock_);
    called_.set(!on_watch_.get());
    if (!on_watch_.get() || waiters_.first.get() == nullptr) return;
    elect(*waiters_.first.get());
    on_watch_.set(false);
    update_active();
  }

  // ---- Listeners

  // The caller's counter expects one event.
  void listen(Waiter& me) {
    const Guard guard(lock_);
    listeners_.append(me);
    update_active();
  }
  void call_listeners() {
    const Guard guard(lock_);
    while (Waiter* const listener = listeners_.first.get()) {
      listeners_.remove(*listener);
      const auto thread = listener->thread;
      if (listener->counter.arrive() == Arrival::last_blocked) thread.resume();
    }
    update_active();
  }

  // ---- The watch

  bool is_watch_active() const { return active_.load(order::relaxed); }
  void await_active() {
    std::unique_lock guard(lock_);
    while (!is_watch_active()) activated_.wait(guard);
  }

 private:
  struct List {
    plain<Waiter*> first{nullptr};
    plain<Waiter*> last{nullptr};

    void append(Waiter& waiter) {
      Waiter* const before = last.get();
      waiter.next.set(nullptr);
      waiter.prev.set(before);
      (before != nullptr ? before->next : first).set(&waiter);
      last.set(&waiter);
    }
    void remove(Waiter& waiter) {
      Waiter* const before = waiter.prev.get();
      Waiter* const after = waiter.next.get();
      (before != nullptr ? before->next : first).set(after);
      (after != nullptr ? after->prev : last).set(before);
    }
  };

  // With the lock held: until the waiter leaves, which needs the lock too, it is there to be forced.
  void elect(Waiter& waiter) {
    waiters_.remove(waiter);
    waiter.server.set(true);
    server_.set(&waiter);
    waiter.force();
  }

  // A watch that is not needed any more stays on the doorbell: it finds out when it next wakes.
  void update_active() {
    const bool wanted = on_watch_.get() || listeners_.first.get() != nullptr;
    if (wanted == active_.load(order::relaxed)) return;
    active_.store(wanted, order::relaxed);
    if (wanted) activated_.notify_one();
  }

  Mutex lock_;
  plain<Waiter*> server_{nullptr};
  List waiters_;
  List listeners_;
  plain<bool> on_watch_{false};                      // it serves, for lack of another server
  plain<bool> called_{false};                        // while there was a server
  typename P::template atomic<bool> active_{false};  // the watch has work
  Condition activated_;
};

}  // namespace heddle::sync
