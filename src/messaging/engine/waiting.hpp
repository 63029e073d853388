// Ways of waiting: the actions of a thread until the awaited event, which a safety model chooses as its fourth part.
//
// A way of waiting has, over an engine E (composed_engine.hpp):
//   wait(e, set)           waits until the set of requests is satisfied
//   wait_until(e, holds, wait)  waits until a condition holds that no request represents (probes, collectives in shared
//                          memory); `wait` describes it, or is null if the thread has recorded its wait (blocked.hpp)
//   progress(e, home)      one attempt, for MPI_Test and its kind, the VNI `home` first; true: something moved
//   peeks                  true if a poll checks for work before it takes the lock. The papers' ways do not: their papers
//                          measure how often a thread takes the lock and finds no work
//
// The policy (base/safety/wait_policy.hpp) says for how long a thread polls before it blocks. The papers' ways contend and back off
// without end, and block only if HEDDLE_WAIT requests it. None keeps a core from other threads: with more waiting threads than cores a
// thread yields between polls (base/safety/patience.hpp).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/progress/poll_result.hpp"
#include "base/safety/model.hpp"
#include "base/safety/patience.hpp"
#include "base/safety/roles.hpp"
#include "base/safety/urgency.hpp"
#include "launch/boot/wait_record.hpp"
#include "messaging/engine/blocked.hpp"
#include "messaging/engine/lookout.hpp"
#include "messaging/engine/poll_mode.hpp"
#include "messaging/engine/wait_set.hpp"

namespace heddle::engine {

using safety::Urgency;

// The polls of a test: without waiting for the VNI, until that has failed too often. Threads that start operations all the time, and
// never wait, can keep a lock so busy that no attempt succeeds and that the low class never gets it.
struct Attempts {
  template <class E>
  static bool poll(E& e, int home) {
    static constinit thread_local std::uint32_t failures = 0;
    const progress::PollResult result = e.poll(home, failures < most_failures ? Urgency::attempt : Urgency::high);
    failures = result.complete || failures >= most_failures ? 0 : failures + 1;
    return result.made_progress;
  }

 private:
  static constexpr std::uint32_t most_failures = 16;
};

// Records the wait of a thread that polls for longer than the spin time.
template <class E>
Blocked blocked(E& e, WaitSet& set) {
  const boot::Wait wait = e.describe(set);
  return Blocked(e.rank(), &wait);
}
template <class E>
Blocked blocked(E& e, const boot::Wait* wait) {
  return Blocked(e.rank(), wait);
}

// Polls until `done`. Between two attempts that moved nothing it pauses or yields, as the load of the machine requires. False: the wait
// has become a long one. A function of its own continues long waits, so that a short wait pays nothing for them.
template <class Done, class Attempt>
bool poll_until(const Machine& machine, Done&& done, Attempt&& attempt) {
  Patience patience(machine);
  while (!done()) {
    if (attempt()) {
      patience.reset();
    } else if (!patience.spend()) {
      return false;
    }
  }
  return true;
}

// Continues to poll, with a way of waiting that never blocks.
template <class E, class What, class Done, class Attempt>
void poll_on(E& e, What& what, Done&& done, Attempt&& attempt) {
  const Blocked said = blocked(e, what);
  Patience patience(e.machine());
  while (!done()) {
    if (attempt()) {
      patience.reset();
    } else {
      (void)patience.spend();
    }
  }
}

// Called at the end of the spin time. True: the policy is `busy`, and the thread goes on spinning. First it polls fully: attempts leave
// work to the thread that holds the VNI, and could do so again and again.
template <class E>
bool keeps_spinning(E& e, Patience& patience, bool of_program = true) {
  if (!e.machine().busy.load(std::memory_order_relaxed)) [[likely]]
    return false;
  (void)e.poll_fully(of_program);
  patience.reset();
  return true;
}

// Polls for the spin time. True: poll() has seen the awaited event. When it returns, the thread no longer counts as spinning: other
// threads would yield for it while it is blocked.
template <class E, class Poll>
bool spin_until(E& e, Poll&& poll) {
  Patience patience(e.machine());
  do {
    if (poll(patience)) return true;
  } while (patience.spend());
  return false;
}

// Goes on polling if the policy is `busy`. False: the thread has to block after all.
template <class E, class What, class Poll>
bool spin_on(E& e, What& what, Poll&& poll) {
  Patience patience(e.machine());
  if (!keeps_spinning(e, patience)) return false;
  const Blocked said = blocked(e, what);
  do {
    if (poll(patience)) return true;
  } while (patience.spend() || keeps_spinning(e, patience));
  return false;
}

// Blocks on the rank's doorbell.
template <class E, class F>
void sleep_until(E& e, const boot::Wait* wait, F&& holds) {
  const Blocked said(e.rank(), wait);
  e.sleep_until(holds);
}

// Blocks in the kernel: one thread as the server on the rank's doorbell, the others on their counters.
template <class E>
void sleep_registered(E& e, WaitSet& set) {
  e.wait_registered(
      set, waiter_of_thread(), [](Waiter& me) { return me.counter.wait(); },
      [&e](auto&& over) { e.sleep_until(over); });
}

// Contend: each waiting thread enters the VNI and polls, again and again. With Urgency::low it enters after all active threads (Dang
// 2017, Fig. 1: `acquire_low`).
template <Urgency urgency>
struct Contend {
  static constexpr bool peeks(const safety::Model&) { return false; }

  template <class E>
  static void wait(E& e, WaitSet& set) {
    const bool satisfied = poll_until(
        e.machine(), [&] { return set.satisfied(); }, [&] { return e.poll(e.home(set), urgency).made_progress; });
    if (!satisfied) wait_long(e, set);
  }
  template <class E, class F>
  static void wait_until(E& e, F&& holds, const boot::Wait* wait) {
    if (!poll_until(e.machine(), holds, [&] { return e.poll(0, urgency).made_progress; })) wait_long(e, holds, wait);
  }
  template <class E>
  static bool progress(E& e, int home) {
    return urgency == Urgency::high ? e.poll(home, urgency).made_progress : Attempts::poll(e, home);
  }

 private:
  template <class E>
  [[gnu::noinline]] static void wait_long(E& e, WaitSet& set) {
    if (e.machine().policy.may_sleep()) return sleep_registered(e, set);
    poll_on(
        e, set, [&] { return set.satisfied(); }, [&] { return e.poll(e.home(set), urgency).made_progress; });
  }
  template <class E, class F>
  [[gnu::noinline]] static void wait_long(E& e, F& holds, const boot::Wait* wait) {
    if (e.machine().policy.may_sleep()) return sleep_until(e, wait, holds);
    poll_on(e, wait, holds, [&] { return e.poll(0, urgency).made_progress; });
  }
};

// Try, and back off exponentially: a thread that finds the VNI taken makes no attempt in its next 1, 2, 4, ... polls. It keeps this state
// over calls of MPI_Test. After `most_failures` in a row it waits for the VNI, so that repeated tests succeed (Amer 2019, sections 3.5
// and 4.4, which give no numbers).
struct BackOff {
  static constexpr bool peeks(const safety::Model&) { return false; }
  static constexpr std::uint32_t longest = 64;  // polls
  static constexpr std::uint32_t most_failures = 16;

  template <class E>
  static void wait(E& e, WaitSet& set) {
    const bool satisfied = poll_until(
        e.machine(), [&] { return set.satisfied(); }, [&] { return attempt(e, e.home(set)); });
    if (!satisfied) wait_long(e, set);
  }
  template <class E, class F>
  static void wait_until(E& e, F&& holds, const boot::Wait* wait) {
    if (!poll_until(e.machine(), holds, [&] { return attempt(e, 0); })) wait_long(e, holds, wait);
  }
  template <class E>
  static bool progress(E& e, int home) {
    return attempt(e, home);
  }

 private:
  struct State {
    std::uint32_t limit = 1;
    std::uint32_t skip = 0;
    std::uint32_t failures = 0;
  };

  template <class E>
  [[gnu::noinline]] static void wait_long(E& e, WaitSet& set) {
    if (e.machine().policy.may_sleep()) return sleep_registered(e, set);
    poll_on(
        e, set, [&] { return set.satisfied(); }, [&] { return attempt(e, e.home(set)); });
  }
  template <class E, class F>
  [[gnu::noinline]] static void wait_long(E& e, F& holds, const boot::Wait* wait) {
    if (e.machine().policy.may_sleep()) return sleep_until(e, wait, holds);
    poll_on(e, wait, holds, [&] { return attempt(e, 0); });
  }

  // True: something moved.
  template <class E>
  static bool attempt(E& e, int home) {
    static constinit thread_local State state;
    if (state.skip != 0) {
      --state.skip;
      return false;
    }
    progress::PollResult result = e.poll(home, state.failures < most_failures ? Urgency::attempt : Urgency::low);
    if (result.complete || state.failures >= most_failures) {
      state = {};
    } else {
      ++state.failures;
      state.skip = state.limit;
      state.limit = std::min(state.limit * 2, longest);
    }
    return result.made_progress;
  }
};

// How a waiter that is not the server waits for its counter: spinning in user space, or in the kernel.
enum class Sleep : std::uint8_t { user, kernel };

// Selective reactivation: one of the waiting threads, the server, polls. Each of the others waits for its own counter, and continues when
// its own requests are done or when it becomes the server (Dang 2017, section IV-A, Figs. 6 and 7). The server polls at low priority
// until its own requests are done.
template <Sleep sleep>
struct Reactivation {
  static constexpr bool peeks(const safety::Model&) { return false; }

  template <class E>
  static void wait(E& e, WaitSet& set) {
    e.wait_registered(
        set, waiter_of_thread(),
        [](Waiter& me) { return sleep == Sleep::user ? me.counter.watch() : me.counter.wait(); },
        [&e](auto&& over) { Contend<Urgency::low>::wait_until(e, over, nullptr); });
  }
  // A condition has no counter: the thread polls for itself.
  template <class E, class F>
  static void wait_until(E& e, F&& holds, const boot::Wait* wait) {
    Contend<Urgency::low>::wait_until(e, holds, wait);
  }
  template <class E>
  static bool progress(E& e, int home) {
    return Attempts::poll(e, home);
  }
};

// Heddle's way: spin for a time that follows from the cost of a wake-up, then block. A message that comes soon costs no system call, a
// message that comes late wakes one thread, and a long wait occupies no core.
//
// A thread that finds no other thread in the VNI takes the lock for each poll: an arriving message need not wait until the thread has the
// lock. Once the thread has met another one, in this VNI or in another part of the poll, it first checks for work without the lock. So
// one of several waiting threads polls, and a thread that has work finds the lock free.
//
// Between nodes each poll is a system call. If many threads wait, their polls delay the event that each of them waits for. Then one
// thread polls for all, and the others watch their requests. A thread that receives nothing leaves the polling to others sooner: its
// sends then share packets with theirs.
struct Adaptive {
  static constexpr bool peeks(const safety::Model&) { return true; }

  template <class E>
  static void wait(E& e, WaitSet& set) {
    if (e.polls_are_expensive()) [[unlikely]]
      return wait_between_nodes(e, set);
    if (!look_for(e, set, [](int) { return true; })) wait_long(e, set);
  }
  template <class E, class F>
  static void wait_until(E& e, F&& holds, const boot::Wait* wait) {
    const bool held = spin_until(e, [&](Patience& patience) { return look_for(e, holds, patience); });
    if (!held) wait_long(e, holds, wait);
  }
  template <class E>
  static bool progress(E& e, int home) {
    return Attempts::poll(e, home);
  }

 private:
  template <class E>
  [[gnu::noinline]] static void wait_between_nodes(E& e, WaitSet& set) {
    {
      Lookout::Candidate me;
      const Machine& machine = e.machine();
      bool receives = false;
      set.for_each([&](const Request& request) { receives |= request.receives; });
      const auto looks = [&](int home) {
        if (receives ? machine.many_wait() : machine.short_of_cores()) return me.looks_at(e.lookout(home));
        me.step_down();
        return true;
      };
      if (look_for(e, set, looks)) return;
    }
    wait_long(e, set);
  }
  // Polls the VNI `home` if looks(home) is true. False: the spin time is over.
  template <class E, class Looks>
  static bool look_for(E& e, WaitSet& set, Looks&& looks) {
    bool alone = true;
    const Request* expected = set.any() ? nullptr : set.next();
    return spin_until(e, [&](Patience& patience) {
      const int home = e.home(set);
      if (!looks(home)) {
        patience.give_way();
        return set.satisfied();
      }
      const progress::PollResult result = e.poll(home, PollMode{.peek = !alone, .expected = expected});
      alone = alone && result.complete;
      expected = nullptr;
      if (result.made_progress) patience.reset();
      return set.satisfied();
    });
  }
  template <class E, class F>
  static bool look_for(E& e, F& holds, Patience& patience) {
    if (holds()) return true;
    if (e.poll_for_condition(Urgency::attempt).made_progress) patience.reset();
    return false;
  }
  template <class E>
  [[gnu::noinline]] static void wait_long(E& e, WaitSet& set) {
    const bool satisfied = spin_on(e, set, [&](Patience& patience) {
      if (e.poll(e.home(set), Urgency::attempt).made_progress) patience.reset();
      return set.satisfied();
    });
    if (!satisfied) sleep_registered(e, set);
  }
  template <class E, class F>
  [[gnu::noinline]] static void wait_long(E& e, F& holds, const boot::Wait* wait) {
    const bool held = spin_on(e, wait, [&](Patience& patience) { return look_for(e, holds, patience); });
    if (!held) sleep_until(e, wait, holds);
  }
};

// Offload model: the communication thread makes the progress. Every other thread watches its own request for the spin time, and then
// sleeps until it is done. A condition has no flag: a thread that waits for one polls for itself.
struct WatchOwnFlag {
  static constexpr bool peeks(const safety::Model&) { return true; }

  template <class E>
  static void wait(E& e, WaitSet& set) {
    if (!spin_until(e, [&](Patience&) { return set.satisfied(); })) wait_long(e, set);
  }
  template <class E, class F>
  static void wait_until(E& e, F&& holds, const boot::Wait* wait) {
    Adaptive::wait_until(e, holds, wait);
  }
  template <class E>
  static bool progress(E&, int /*home*/) {
    return false;
  }

 private:
  template <class E>
  [[gnu::noinline]] static void wait_long(E& e, WaitSet& set) {
    if (!spin_on(e, set, [&](Patience&) { return set.satisfied(); })) e.wait_served(set, waiter_of_thread());
  }
};

}  // namespace heddle::engine
