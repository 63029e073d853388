// A condition variable for threads of any runtime, mixed: each is suspended in its own.
//
// Source: ours. The mutex with which all waiters wait guards their list; the notifying thread holds it too. `Thread` is
// as in waiter.hpp; self() is the calling one.
//
// No notification is lost: a waiter is in the list before it gives the mutex back, and the runtime promises that a
// resumption before the suspension ends the suspension. Memory orders: none of its own; the mutex orders the list.
#pragma once

#include <mutex>

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P, class Mutex, class Thread, Thread (*self)()>
class Condition {
  template <class T>
  using plain = typename P::template plain<T>;

 public:
  // Gives the mutex back while it waits. Returns only after a notification.
  void wait(std::unique_lock<Mutex>& held) {
    Waiting me{self()};
    Waiting* const last = last_.get();
    (last != nullptr ? last->next : first_).set(&me);
    last_.set(&me);
    held.unlock();
    me.thread.suspend();
    held.lock();
  }

  void notify_one() {
    Waiting* const first = first_.get();
    if (first == nullptr) return;
    const Thread thread = first->thread;  // its waiter is gone after the wait
    Waiting* const next = first->next.get();
    first_.set(next);
    if (next == nullptr) last_.set(nullptr);
    thread.resume();
  }
  void notify_all() {
    while (first_.get() != nullptr) notify_one();
  }

 private:
  struct Waiting {
    explicit Waiting(Thread t) : thread(t) {}
    Thread thread;
    plain<Waiting*> next{nullptr};
  };

  plain<Waiting*> first_{nullptr};
  plain<Waiting*> last_{nullptr};
};

}  // namespace heddle::sync
