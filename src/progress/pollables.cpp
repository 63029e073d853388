#include "progress/pollables.hpp"

#include <new>

#include "threads/per_thread.hpp"
#include "threads/thread_ref.hpp"

namespace heddle::progress {

void Pollables::put(Pollable& work) {
  std::lock_guard guard(mutex_);
  work.next = nullptr;
  (tail_ ? tail_->next : head_) = &work;
  tail_ = &work;
}

Pollable* Pollables::take() {
  std::lock_guard guard(mutex_);
  Pollable* work = head_;
  if (work != nullptr) {
    head_ = work->next;
    if (head_ == nullptr) tail_ = nullptr;
  }
  return work;
}

void Pollables::add(Pollable& work) {
  active_.fetch_add(1, std::memory_order_relaxed);
  if (work.calls_user) of_program_.fetch_add(1, std::memory_order_relaxed);
  put(work);
}

namespace {

// Whether the calling thread is in poll(): a schedule's own send or receive progresses too, and would come back there; depth
// one is enough.
bool& is_polling() {
  struct Polling {
    bool now = false;
  };
  static constinit thread_local Polling of_kernel_thread;
  return threads::user_level() ? threads::own<Polling>().now : of_kernel_thread.now;
}

}  // namespace

Pass Pollables::poll(bool of_program) {
  bool& polling = is_polling();
  Pass pass;
  if (polling) return pass;
  polling = true;
  for (std::uint32_t left = active_.load(std::memory_order_relaxed); left != 0; --left) {
    Pollable* work = take();
    if (work == nullptr) {
      pass.complete = false;
      break;
    }
    const bool calls_user = work->calls_user;  // it may be gone when it has finished
    bool finished = false;
    try {
      finished = (of_program || !calls_user) && work->poll();
    } catch (const std::bad_alloc&) {
      pass.complete = false;  // it has no memory to go on now
    }
    if (finished) {
      active_.fetch_sub(1, std::memory_order_relaxed);
      if (calls_user) of_program_.fetch_sub(1, std::memory_order_relaxed);
      pass.moved = true;
    } else {
      put(*work);
    }
  }
  polling = false;
  return pass;
}

}  // namespace heddle::progress
