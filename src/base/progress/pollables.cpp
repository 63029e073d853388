#include "base/progress/pollables.hpp"

#include <mutex>
#include <new>
#include <utility>

#include "base/threads/thread_ref.hpp"

namespace heddle::progress {

void Pollables::add(Pollable& work) {
  active_.fetch_add(1, std::memory_order_relaxed);
  if (work.calls_user) of_program_.fetch_add(1, std::memory_order_relaxed);
  list_.add(work);
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

PollResult Pollables::poll(bool of_program, Missed missed) {
  PollResult result;
  const Polling polling(*this);
  if (polling.is_nested()) return result;
  const List::Pass pass = list_.begin(missed);
  result.complete = pass.complete;
  const auto suits = [of_program](const Pollable& work) { return of_program || !work.calls_user; };
  while (Pollable* const work = list_.take(pass, suits)) {
    const bool calls_user = work->calls_user;  // it may be gone when it has finished
    bool finished = false;
    try {
      finished = missed == Missed::rung_for ? work->poll_before_sleep() : work->poll();
      if (!finished && work->poll_again) result.complete = false;
    } catch (const std::bad_alloc&) {
      result.complete = false;  // it has no memory to go on now
    }
    if (finished) {
      active_.fetch_sub(1, std::memory_order_relaxed);
      if (calls_user) of_program_.fetch_sub(1, std::memory_order_relaxed);
      result.made_progress = true;
    }
    if (finished ? list_.forget(pass) : list_.put_back(pass, *work)) bell_.wake_blocked();
  }
  return result;
}

}  // namespace heddle::progress
