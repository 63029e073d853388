// A thread that waits for requests: a synchronization counter that whoever completes one of them signals.
//
// A thread that waits for all of n requests is signalled n times and wakes once; one that waits for any of them counts
// one event, which the first completion signals (Dang 2017, section IV-A, has the former; the latter is ours).
//
// A kernel thread sleeps on its counter's word. A user-level thread is suspended in its runtime, and whoever wakes it
// resumes it there; the counter makes sure that this is done once for each suspension.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/native.hpp"
#include "sync/doorbell.hpp"
#include "sync/kernel_counter.hpp"
#include "threads/thread_ref.hpp"

namespace heddle {

struct Waiter {
  sync::KernelCounter<platform::Native> counter;
  bool any = false;                    // waits for one of its requests, not for all
  std::atomic<bool> signalled{false};  // `any` only: somebody was the first
  threads::ThreadRef thread;           // none: a kernel thread
  bool server = false;                 // under the lock of Roles, as the links
  Waiter* next = nullptr;
  Waiter* prev = nullptr;

  sync::Wake sleep() {
    if (!thread) return counter.wait();
    return counter.wait_by([this](std::uint32_t) { thread.suspend(); });
  }
  void force() {
    if (!counter.mark_forced()) return;
    if (thread) {
      thread.resume();
    } else {
      counter.wake();
    }
  }
};

// Of a kernel thread. A user-level one has its waiter on its stack.
inline Waiter& waiter_of_thread() {
  static thread_local constinit Waiter waiter;
  return waiter;
}

// Threads to wake once the VNI is released: waking costs a system call, which nobody should wait for. A kernel thread's
// waiter may be gone by then; its counter's address is all that is needed. And doorbells to ring, if somebody sleeps there.
class Wakeups {
 public:
  Wakeups() {}  // not defaulted: then {} would clear the whole array
  Wakeups(const Wakeups&) = delete;
  Wakeups& operator=(const Wakeups&) = delete;
  ~Wakeups() {
    if (size_ != 0) [[unlikely]]
      flush();
  }
  void add(Waiter& waiter) { add(waiter.thread ? Kind::user_level : Kind::kernel, &waiter); }
  // The caller has left work that it may not come back for: those who sleep at the bell shall do it, or the progress thread that
  // listens there.
  void add(sync::Doorbell<platform::Native>& bell) {
    if (size_ == 0 || asleep_[size_ - 1].what != &bell) add(Kind::doorbell, &bell);
  }
  // Out of line: most operations wake nobody.
  [[gnu::noinline]] void flush() {
    for (int i = 0; i < size_; ++i) asleep_[i].wake();
    size_ = 0;
  }

 private:
  enum class Kind : std::uint8_t { kernel, user_level, doorbell };

  struct Sleeper {
    void* what;
    Kind kind;
    void wake() const {
      switch (kind) {
        case Kind::kernel:
          static_cast<Waiter*>(what)->counter.wake();
          break;
        case Kind::user_level: {  // its waiter is there until it is resumed
          const threads::ThreadRef thread = static_cast<Waiter*>(what)->thread;
          thread.resume();
          break;
        }
        case Kind::doorbell:
          static_cast<sync::Doorbell<platform::Native>*>(what)->rouse();
          break;
      }
    }
  };

  void add(Kind kind, void* what) {
    if (size_ == capacity) flush();
    asleep_[size_++] = {what, kind};
  }

  static constexpr int capacity = 16;
  int size_ = 0;
  Sleeper asleep_[capacity];
};

}  // namespace heddle
