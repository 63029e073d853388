// How a user-level thread waits, under whatever safety model: in its runtime. The fourth choice of a model says what kernel
// threads do; this is the same for all models.
//
// - First it looks a few times itself, and lets its siblings run in between: an answer that is on its way costs a switch
//   and nothing else. With siblings it lets them run before it looks: what one look finds is then several threads', and
//   each look takes only some of it (docs/adr/0030-sibling-first-waiting.md).
// - Then it is suspended until its requests are done. One of those that wait, the server, goes on looking for all of them,
//   and yields between looks, so that the kernel thread polls when it has nothing else to run, and only then.
// - When nothing has moved for as long as the policy says (base/safety/wait_policy.hpp), the server is suspended too. From
//   then on a kernel thread serves: one that waits itself, or the watch (base/safety/roles.hpp). Now the runtime finds nothing
//   to run and does what it does then. Boost.Fiber puts the kernel thread to sleep, and a fiber that becomes ready by
//   other means wakes it, which would not be so if it slept on our doorbell.
//
// Passive, a thread looks once before it is suspended, and the server steps down after one poll. Busy, nobody is
// suspended: each looks for itself and yields.
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

// How long a user-level thread goes on looking and yielding.
class UserLevelPatience {
 public:
  explicit UserLevelPatience(const Machine& machine) : machine_(machine) { machine_.begin_waiting(); }
  ~UserLevelPatience() { machine_.end_waiting(); }
  UserLevelPatience(const UserLevelPatience&) = delete;
  UserLevelPatience& operator=(const UserLevelPatience&) = delete;

  void reset() { since_ = 0; }

  // After a yield in the runtime; false: it was long enough. Now and then the kernel is given the core, for threads that this
  // runtime knows nothing of.
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
  std::int64_t since_ = 0;  // nothing has moved; 0: something has, since the last check
};

// The threads beside the caller that its kernel thread carries and that wait too: those that yield while it has yielded.
// A hint: the caller may go on in another kernel thread, where others are counted.
class Siblings {
 public:
  // Yields; how many have done so when the caller's turn has come again.
  static std::uint32_t yield(const threads::ThreadRef& thread) {
    const std::uint32_t turn = begin();
    thread.yield();
    return end(turn);
  }
  // How many the last one that yielded has seen.
  [[gnu::noinline]] static std::uint32_t last_seen() { return seen_; }

 private:
  // Each finds the thread_local anew: it is another after a switch.
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
      (void)poll_until(satisfied);  // its patience has no end
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
  static constexpr std::uint32_t few = 2;        // siblings: fewer are not worth a switch before the first look
  static constexpr std::uint32_t attempts = 16;  // without waiting for the VNI, to one that does

  // How many messages a look takes. Half of the threads' are with the peers, and half of the others' have come.
  static int share(std::uint32_t siblings) {
    return static_cast<int>(std::clamp<std::uint32_t>((siblings + 1) / 4, 2, lln::poll_batch));
  }

  // As the server, spinning and then in turns with others, until over().
  template <class F>
  void serve(Waiter& me, F&& over) {
    while (!poll_until(over)) {
      if (e_.step_down(me) && me.sleep().complete) return;
    }
  }

  // False: it takes long.
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

  // Without any lock nobody else may look for us.
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
