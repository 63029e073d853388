// Who of a rank's sleeping threads is the server, and who the waiters (Dang 2017, section IV-A and Fig. 6).
//
// At most one thread is the server: it makes progress for all of them. The others sleep on their counters. When the
// server's own requests are done, it hands its role to one of the others, which it wakes by force. (Fig. 6 keeps this
// under the lock of the one VNI; a rank has several here, so it has a lock of its own.)
//
// A user-level thread can't be a server that sleeps, since its kernel thread has others to run. It serves awake, as long as
// something moves, and then resigns: in favour of a kernel thread that waits, or else of the watch, a helper thread of the
// rank that serves when nobody else does. Listeners are user-level threads that wait for a condition and not for requests:
// they are woken whenever the rank's doorbell has rung, by the watch, and look for themselves.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "safety/waiter.hpp"
#include "threads/condition.hpp"
#include "threads/mutex.hpp"

namespace heddle {

class Roles {
  using Guard = std::lock_guard<threads::Mutex>;

 public:
  // True: the caller is the server. Its counter has been told what to expect.
  bool enter(Waiter& me) {
    const Guard guard(lock_);
    me.server = server_ == nullptr;
    if (me.server) {
      server_ = &me;
      on_watch_ = false;
      update_duty();
    } else {
      waiters_.append(me);
    }
    return me.server;
  }

  // The caller waits no more.
  void leave(Waiter& me) {
    const Guard guard(lock_);
    if (!me.server) {
      waiters_.remove(me);
    } else {
      server_ = nullptr;
      if (Waiter* next = waiters_.first) appoint(*next);
    }
    if (server_ == nullptr && waiters_.first == nullptr) on_watch_ = false;
    update_duty();
  }

  // The server, a user-level thread, becomes a waiter, and somebody who can sleep takes over. False: it shall look once more.
  bool resign(Waiter& me) {
    const Guard guard(lock_);
    if (std::exchange(called_, false)) return false;
    me.server = false;
    server_ = nullptr;
    Waiter* next = waiters_.first;
    while (next != nullptr && next->thread) next = next->next;
    if (next != nullptr) appoint(*next);
    waiters_.append(me);
    on_watch_ = server_ == nullptr;
    update_duty();
    return true;
  }

  // The watch has seen something that only a thread of the program may do: one of those that wait serves again, or the
  // server goes on.
  void call_server() {
    const Guard guard(lock_);
    called_ = !on_watch_;
    if (!on_watch_ || waiters_.first == nullptr) return;
    appoint(*waiters_.first);
    on_watch_ = false;
    update_duty();
  }

  // ---- Listeners

  // The caller's counter expects one event.
  void listen(Waiter& me) {
    const Guard guard(lock_);
    listeners_.append(me);
    update_duty();
  }
  void call_listeners() {
    const Guard guard(lock_);
    while (Waiter* listener = listeners_.first) {
      listeners_.remove(*listener);
      const threads::ThreadRef thread = listener->thread;
      if (listener->counter.arrive() == sync::Arrival::last_asleep) thread.resume();
    }
    update_duty();
  }

  // ---- The watch

  bool watch_is_wanted() const { return duty_.load(std::memory_order_relaxed); }
  void await_duty() {
    std::unique_lock guard(lock_);
    while (!watch_is_wanted()) duty_begins_.wait(guard);
  }

 private:
  struct List {
    Waiter* first = nullptr;
    Waiter* last = nullptr;

    void append(Waiter& waiter) {
      waiter.next = nullptr;
      waiter.prev = last;
      (last != nullptr ? last->next : first) = &waiter;
      last = &waiter;
    }
    void remove(Waiter& waiter) {
      (waiter.prev != nullptr ? waiter.prev->next : first) = waiter.next;
      (waiter.next != nullptr ? waiter.next->prev : last) = waiter.prev;
    }
  };

  // Under the lock: until the waiter leaves, which needs the lock too, it is there to be forced.
  void appoint(Waiter& waiter) {
    waiters_.remove(waiter);
    waiter.server = true;
    server_ = &waiter;
    waiter.force();
  }

  // A watch that is not wanted any more is left on the doorbell: it sees that when it next wakes.
  void update_duty() {
    const bool wanted = on_watch_ || listeners_.first != nullptr;
    if (wanted == duty_.load(std::memory_order_relaxed)) return;
    duty_.store(wanted, std::memory_order_relaxed);
    if (wanted) duty_begins_.notify_one();
  }

  threads::Mutex lock_;
  Waiter* server_ = nullptr;
  List waiters_;
  List listeners_;
  bool on_watch_ = false;          // it serves, for lack of another server
  bool called_ = false;            // while there was a server
  std::atomic<bool> duty_{false};  // the watch has something to do
  threads::Condition duty_begins_;
};

}  // namespace heddle
