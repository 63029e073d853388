// A thread of any runtime, to be suspended and resumed; and the calling thread as one.
//
// A thread that is about to sleep or to yield calls user_level(). Where no user-level runtime is in the process that is
// one test of a variable that is not written. With one, each is asked if the caller is one of its threads, so threads
// of several runtimes may wait in the library at the same time, and complete each other.
//
// While a user-level thread is suspended its kernel thread runs others, in and out of the library, and it may go on in
// another kernel thread. So no reference to a thread_local is kept over a wait, nor any state of the kernel thread;
// per_thread.hpp is for state that must follow the thread.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

#include "base/platform/native.hpp"
#include "base/threads/bound_runtime.hpp"
#include "base/threads/carried.hpp"
#include "base/threads/pthreads/pthreads.hpp"
#include "base/threads/runtime.hpp"

namespace heddle::threads {

class ThreadRef {
 public:
  ThreadRef() = default;  // no thread
  ThreadRef(const Operations* runtime, Thread thread) : runtime_(runtime), thread_(thread) {}

  explicit operator bool() const { return thread_ != nullptr; }
  Thread thread() const { return thread_; }

  // These by the thread itself.
  void yield(std::uint32_t rests = 0) const {
    const Carried carried(Carried::Kind::in_turn);
    with([&](auto runtime) { runtime.yield(thread_, rests); });
  }
  void suspend() const {
    const Carried carried(Carried::Kind::suspended);
    with([&](auto runtime) { runtime.suspend(thread_); });
  }
  void*& slot(void (*drop)(void*)) const { return runtime_->slot(drop); }

  // Exactly once for each suspension, which may be just about to begin. The thread may be gone when this returns.
  void resume() const {
    with([&](auto runtime) { runtime.resume(thread_); });
  }

 private:
  struct Loaded {
    const Operations& runtime;
    void yield(Thread thread, std::uint32_t rests) const { runtime.yield(thread, rests); }
    void suspend(Thread thread) const { runtime.suspend(thread); }
    void resume(Thread thread) const { runtime.resume(thread); }
  };

  // The runtime bound when the library was built is called without its table, and so inlined.
  template <class F>
  void with(F&& f) const {
    if (runtime_ == &operations_of<Bound>) {
      f(Bound());
    } else if (runtime_ == &operations_of<Pthreads>) {
      f(Pthreads());
    } else {
      f(Loaded{*runtime_});
    }
  }

  const Operations* runtime_ = nullptr;
  Thread thread_ = nullptr;
};

namespace detail {
ThreadRef find_user_level() noexcept;
}

// True if there may be user-level threads in this process. Decided before the first rank comes up.
inline bool user_level_possible() { return platform::user_level.load(std::memory_order_relaxed) != nullptr; }

// The calling thread if it is user-level; else none.
inline ThreadRef user_level() {
  if (!user_level_possible()) [[likely]]
    return {};
  return detail::find_user_level();
}

// The calling thread, of any kind.
inline ThreadRef current() {
  const ThreadRef caller = user_level();
  return caller ? caller : ThreadRef(&operations_of<Pthreads>, Pthreads::self());
}

// The calling kernel thread ends, and its thread_local objects are destroyed already: no runtime is asked for it any
// more, which could register it anew.
void end_of_kernel_thread() noexcept;

// A name of the calling thread, of any kind, that no other living thread has.
std::uintptr_t identity();

}  // namespace heddle::threads
