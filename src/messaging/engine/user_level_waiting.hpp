// How a user-level thread waits: in its runtime, with every safety model. The way of waiting of a model applies to kernel threads only.
//
// - First the thread polls a few times, and yields to its siblings between polls: an answer that is on its way costs only a switch. With
// siblings it yields before the first poll too. A poll then finds messages of several threads, and takes only a share of them
// (docs/adr/0030-sibling-first-waiting.md).
// - Then the thread is suspended until its requests are done. One of the waiting threads, the server, goes on polling for all of them. It
// yields between polls, so that its kernel thread polls only when it has nothing else to run.
// - When nothing has moved for the spin time of the policy (base/safety/wait_policy.hpp), the server is suspended too. From then on a
//   kernel
// thread serves: one that waits itself, or the watch (base/safety/roles.hpp). The runtime then finds no thread to run, and handles that
// in its own way. Boost.Fiber blocks the kernel thread, and a fiber that becomes ready by other means wakes it; a kernel thread that
// blocked on our doorbell would not wake for that fiber.
//
// With the policy `passive` a thread polls once before it is suspended, and the server steps down after one poll. With `busy` no thread
// is suspended: each polls for itself and yields.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/platform/native.hpp"
#include "base/progress/poll_result.hpp"
#include "base/safety/model.hpp"
#include "base/safety/patience.hpp"
#include "base/safety/urgency.hpp"
#include "base/safety/waiter.hpp"
#include "base/threads/thread_ref.hpp"
#include "launch/boot/wait_record.hpp"
#include "messaging/engine/blocked.hpp"
#include "messaging/engine/wait_set.hpp"
#include "network/network.hpp"

namespace heddle::engine {

// The time for which a user-level thread goes on polling and yielding.
class UserLevelPatience {
 public:
  explicit UserLevelPatience(const Machine& machine) : machine_(machine) { machine_.begin_waiting(); }
  ~UserLevelPatience() { machine_.end_waiting(); }
  UserLevelPatience(const UserLevelPatience&) = delete;
  UserLevelPatience& operator=(const UserLevelPatience&) = delete;

  void reset() { since_ = 0; }

  // Called after a yield in the runtime. False: the time is over. Every Nth call also yields to the kernel, for threads that this runtime
  // does not know.
  bool spend() {
    if (machine_.spinning == 0) return false;
    if (++polls_ % polls_per_check != 0) return true;
    if (machine_.short_of_cores() || polls_ % polls_per_yield == 0) sched_yield();
    const std::int64_t now = platform::Native::now();
    if (since_ == 0) since_ = now;
    return now - since_ < machine_.spinning || machine_.busy.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t polls_per_check = 8;
  static constexpr std::uint32_t polls_per_yield = 64;

  const Machine& machine_;
  std::uint32_t polls_ = 0;
  std::int64_t since_ = 0;  // nothing has moved since then; 0: something has, since the last check
};

// Counts the waiting threads that share the caller's kernel thread: those that yield while the caller has yielded. A hint: the caller may
// continue on another kernel thread, which counts other threads.
class Siblings {
 public:
  // Yields. Returns the number of threads that have yielded before the caller runs again.
  static std::uint32_t yield(const threads::ThreadRef& thread) {
    const std::uint32_t turn = begin();
    thread.yield();
    return end(turn);
  }
  // The result of the last yield on this kernel thread.
  [[gnu::noinline]] static std::uint32_t last_seen() { return seen_; }

 private:
  // Not inlined, so that each computes the address of the thread_local again: after a switch it is another variable.
  [[gnu::noinline]] static std::uint32_t begin() { return ++turns_; }
  [[gnu::noinline]] static std::uint32_t end(std::uint32_t turn) { return seen_ = turns_ - turn; }

  inline static constinit thread_local std::uint32_t turns_ = 0;
  inline static constinit thread_local std::uint32_t seen_ = 0;
};

template <class E>
class UserLevelWaiting {
 public:
  UserLevelWaiting(E& engine, threads::ThreadRef thread) : e_(engine), thread_(thread) {}

  void wait(WaitSet& set) {
    const auto satisfied = [&] { return set.satisfied(); };
    const bool passive = e_.machine().spinning == 0;
    std::uint32_t siblings = Siblings::last_seen();
    for (int turn = 0; turn < turns; ++turn) {
      if (turn != 0 || siblings < few || passive) {
        e_.poll(e_.home(set), Urgency::attempt, share(siblings));
        if (set.satisfied()) return;
        if (passive) break;
      }
      siblings = Siblings::yield(thread_);
      if (set.satisfied()) return;
    }
    if (!safety::is_safe(e_.model())) {
      const boot::Wait wait = e_.describe(set);
      poll(satisfied, wait);
    } else if (e_.machine().busy.load(std::memory_order_relaxed)) {
      const boot::Wait wait = e_.describe(set);
      const Blocked said(e_.rank(), &wait);
      (void)poll_until(satisfied);  // never false: `busy` has no time limit
    } else {
      Waiter me;
      me.thread = thread_;
      if (e_.is_served()) return e_.wait_served(set, me);
      e_.wait_registered(
          set, me, [](Waiter& waiter) { return waiter.sleep(); }, [&](auto&& over) { serve(me, over); });
    }
  }

  template <class F>
  void wait_until(F&& holds, const boot::Wait& wait) {
    if (!safety::is_safe(e_.model())) return poll(holds, wait);
    const bool busy = e_.machine().busy.load(std::memory_order_relaxed);
    if (!busy && poll_until(holds)) return;
    const Blocked said(e_.rank(), &wait);
    if (busy && poll_until(holds)) return;
    Waiter me;
    me.thread = thread_;
    e_.listen_until(holds, me);
  }

 private:
  using Urgency = safety::Urgency;

  static constexpr int turns = 4;
  static constexpr std::uint32_t few = 2;        // siblings: with fewer, a switch before the first poll does not pay
  static constexpr std::uint32_t attempts = 16;  // one poll in so many waits for the VNI

  // The number of messages that a poll takes. About half of the threads' messages are at the peers, and half of the others have arrived.
  static int share(std::uint32_t siblings) {
    return static_cast<int>(std::clamp<std::uint32_t>((siblings + 1) / 4, 2, lln::poll_batch));
  }

  // Serves until over(): polls for the spin time, then steps down and sleeps until its requests are done or it is the server again.
  template <class F>
  void serve(Waiter& me, F&& over) {
    while (!poll_until(over)) {
      if (e_.step_down(me) && me.sleep().complete) return;
    }
  }

  // False: the time is over.
  template <class F>
  bool poll_until(F&& holds) {
    UserLevelPatience patience(e_.machine());
    for (std::uint32_t i = 1;; ++i) {
      if (holds()) return true;
      if (e_.poll(0, i % attempts == 0 ? Urgency::low : Urgency::attempt).made_progress) patience.reset();
      if (holds()) return true;
      thread_.yield();
      if (!patience.spend()) return holds();
    }
  }

  // Without any lock no other thread may poll for the caller.
  template <class F>
  void poll(F&& holds, const boot::Wait& wait) {
    const Blocked said(e_.rank(), &wait);
    for (std::uint32_t rests = 0; !holds(); ++rests) {
      if (e_.poll(0, Urgency::attempt).made_progress) rests = 0;
      thread_.yield(rests);
    }
  }

  E& e_;
  threads::ThreadRef thread_;
};

}  // namespace heddle::engine
