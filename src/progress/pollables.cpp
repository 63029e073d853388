#include "progress/pollables.hpp"

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
  put(work);
}

Pass Pollables::poll() {
  // A schedule's own send or receive progresses too, and would come back here; depth one is enough.
  static constinit thread_local bool polling = false;
  Pass pass;
  if (polling) return pass;
  polling = true;
  for (std::uint32_t left = active_.load(std::memory_order_relaxed); left != 0; --left) {
    Pollable* work = take();
    if (work == nullptr) {
      pass.complete = false;
      break;
    }
    if (work->poll()) {
      active_.fetch_sub(1, std::memory_order_relaxed);
      pass.moved = true;
    } else {
      put(*work);
    }
  }
  polling = false;
  return pass;
}

}  // namespace heddle::progress
