// A thread that waits for requests: a synchronization counter that is signalled by each completion; and a list of
// wake-ups that is collected while a lock is held, and done after its release.
//
// Source: Dang 2017, section IV-A, for a thread that waits for all of n requests: it is signalled n times and wakes
// once. One that waits for any of them counts one event, which the first completion signals; that is ours.
//
// A kernel thread sleeps on its counter's word. A user-level thread is suspended in its runtime, and the waking thread
// resumes it there. `Thread` is one: false as a condition if it is none, suspend() by itself, resume() by the waking
// thread, exactly once for each suspension, which may be just about to begin.
//
// Invariants: `server` and the links are under the lock of the roles (server_roles.hpp), `any` is final before a thread
// can signal. No wake-up is lost: arrive() and mark_forced() of the counter tell exactly one of the threads that signal
// and force that it has to wake.
//
// Memory orders: `signalled` is a claim and hands over nothing; the counter does.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"
#include "base/sync/doorbell.hpp"
#include "base/sync/kernel_counter.hpp"

namespace heddle::sync {

template <platform::Platform P, class Thread, class Counter = KernelCounter<P>>
struct Waiter {
  template <class T>
  using plain = typename P::template plain<T>;
  using order = platform::order;

  Counter counter;
  plain<bool> any{false};                              // waits for one of its requests, not for all
  typename P::template atomic<bool> signalled{false};  // `any` only: a completion was the first
  Thread thread;                                       // none: a kernel thread
  plain<bool> server{false};
  plain<Waiter*> next{nullptr};
  plain<Waiter*> prev{nullptr};

  // Before a signalling thread can see the waiter.
  void expect(std::uint32_t events, bool for_any) {
    any.set(for_any);
    signalled.store(false, order::relaxed);
    counter.expect(for_any ? 1 : events);
  }
  // One of its requests is done. The waiter may be gone when this returns, unless it sleeps: then the caller has to
  // wake it.
  Arrival arrive() {
    if (any.get() && signalled.exchange(true, order::relaxed)) return Arrival::more_to_come;
    return counter.arrive();
  }
  Wake sleep() {
    if (!thread) return counter.wait();
    return counter.wait_by([this](std::uint32_t) { thread.suspend(); });
  }
  // The caller knows that it has not left.
  void force() {
    if (!counter.mark_forced()) return;
    if (thread) {
      thread.resume();
    } else {
      counter.wake();
    }
  }
};

// Threads to wake once a lock has been released: waking costs a system call, for which no thread should wait. A kernel
// thread's waiter may be gone by then; its counter's address is enough. And doorbells to ring, if a thread sleeps
// there.
template <class Waiter, class Bell>
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
  // The caller has deferred work that it may not come back for: the threads that sleep at the bell do it, or the
  // progress thread that listens there.
  void add(Bell& bell) {
    if (size_ == 0 || blocked_[size_ - 1].what != &bell) add(Kind::doorbell, &bell);
  }
  // Out of line: most operations wake no thread.
  [[gnu::noinline]] void flush() {
    for (int i = 0; i < size_; ++i) blocked_[i].wake();
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
          const auto thread = static_cast<Waiter*>(what)->thread;
          thread.resume();
          break;
        }
        case Kind::doorbell:
          static_cast<Bell*>(what)->wake_blocked();
          break;
      }
    }
  };

  void add(Kind kind, void* what) {
    if (size_ == capacity) flush();
    blocked_[size_++] = {what, kind};
  }

  static constexpr int capacity = 16;
  int size_ = 0;
  Sleeper blocked_[capacity];
};

}  // namespace heddle::sync
