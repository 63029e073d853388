#include "progress/pollables.hpp"

#include <new>
#include <utility>

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

// A schedule's own send or receive progresses too, and would come back here; depth one is enough.
class Pollables::Polling {
 public:
  explicit Polling(Pollables& list) : list_(list), caller_(threads::user_level()) {
    if (!caller_) {
      nested_ = std::exchange(of_kernel_thread_, true);
      return;
    }
    const std::lock_guard guard(list_.mutex_);
    for (const Polling* p = list_.polling_; p != nullptr && !nested_; p = p->next_)
      nested_ = p->caller_.thread() == caller_.thread();
    next_ = list_.polling_;
    list_.polling_ = this;
  }
  ~Polling() {
    if (!caller_) {
      if (!nested_) of_kernel_thread_ = false;
      return;
    }
    const std::lock_guard guard(list_.mutex_);
    Polling** link = &list_.polling_;
    while (*link != this) link = &(*link)->next_;
    *link = next_;
  }
  Polling(const Polling&) = delete;
  Polling& operator=(const Polling&) = delete;

  // The calling thread is in poll() already.
  bool is_nested() const { return nested_; }

 private:
  inline static constinit thread_local bool of_kernel_thread_ = false;

  Pollables& list_;
  const threads::ThreadRef caller_;  // none: a kernel thread
  bool nested_ = false;
  Polling* next_ = nullptr;
};

PollResult Pollables::poll(bool of_program) {
  PollResult result;
  const Polling polling(*this);
  if (polling.is_nested()) return result;
  for (std::uint32_t left = active_.load(std::memory_order_relaxed); left != 0; --left) {
    Pollable* work = take();
    if (work == nullptr) {
      result.complete = false;
      break;
    }
    const bool calls_user = work->calls_user;  // it may be gone when it has finished
    bool finished = false;
    try {
      finished = (of_program || !calls_user) && work->poll();
    } catch (const std::bad_alloc&) {
      result.complete = false;  // it has no memory to go on now
    }
    if (finished) {
      active_.fetch_sub(1, std::memory_order_relaxed);
      if (calls_user) of_program_.fetch_sub(1, std::memory_order_relaxed);
      result.made_progress = true;
    } else {
      put(*work);
    }
  }
  return result;
}

}  // namespace heddle::progress
