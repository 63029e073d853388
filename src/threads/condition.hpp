// A condition variable for threads of any runtime, mixed: each is suspended in its own.
//
// The list of those who wait is guarded by the mutex that they all wait with; who notifies holds it too.
#pragma once

#include <mutex>

#include "threads/mutex.hpp"
#include "threads/thread_ref.hpp"

namespace heddle::threads {

class Condition {
 public:
  // Gives the mutex back while it waits. Never returns without having been notified.
  void wait(std::unique_lock<Mutex>& held) {
    Waiting me{current(), nullptr};
    (last_ != nullptr ? last_->next : first_) = &me;
    last_ = &me;
    held.unlock();
    me.thread.suspend();  // a notification that comes first is not lost: that is the runtime's promise
    held.lock();
  }

  void notify_one() {
    if (first_ == nullptr) return;
    const ThreadRef thread = first_->thread;  // what it stands in is gone with the wait
    first_ = first_->next;
    if (first_ == nullptr) last_ = nullptr;
    thread.resume();
  }
  void notify_all() {
    while (first_ != nullptr) notify_one();
  }

 private:
  struct Waiting {
    ThreadRef thread;
    Waiting* next;
  };

  Waiting* first_ = nullptr;
  Waiting* last_ = nullptr;
};

}  // namespace heddle::threads
