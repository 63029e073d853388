// How a waiting thread spends its time, on a clock that a test sets: the number of polls before it yields, and that
// a yield in which others ran does not end its time.
#include "base/safety/patience.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace heddle::safety {
namespace {

constexpr std::int64_t us = 1000;

// A look takes a nanosecond, a yield as long as `others` run.
struct SetClock : platform::Native {
  static std::int64_t now() { return time; }
  static void await_loads() { ++time; }
  static void pause(unsigned) { ++time; }
  static void yield_core() {
    time += others;
    ++yields;
  }
  inline static thread_local std::int64_t time = 0;
  inline static thread_local std::int64_t others = us;
  inline static thread_local int yields = 0;
};

// One core, so that a waiting thread yields it.
struct OneCore {
  OneCore() {
    machine.waiting = &waiting;
    machine.spinning = 80 * us;
  }
  SetClock::atomic<std::uint32_t> waiting{0};
  Machine<SetClock> machine;
};

// The looks until something comes after `yields` yields; -1: the thread would have slept before.
int polls_until(const Machine<SetClock>& machine, int yields) {
  Patience<SetClock> patience(machine);
  int looks = 0;
  for (SetClock::yields = 0; SetClock::yields < yields; ++looks) {
    if (!patience.spend()) return -1;
  }
  return looks;
}

// Something comes after that many looks, and no yield.
void answered_after(const Machine<SetClock>& machine, int looks) {
  Patience<SetClock> patience(machine);
  SetClock::yields = 0;
  while (looks-- > 0) EXPECT_TRUE(patience.spend());
  EXPECT_EQ(SetClock::yields, 0);
}

// In a thread of its own, which trusts its partners.
template <class Body>
void in_a_thread(Body body) {
  std::thread([&] {
    OneCore at;
    body(at.machine);
    EXPECT_EQ(at.waiting.load(platform::order::relaxed), 0U);
  }).join();
}

TEST(Patience, LooksLessOftenAfterAYieldAndTwiceAsOftenWithEachAnswer) {
  in_a_thread([](const Machine<SetClock>& machine) {
    const int in_step = polls_until(machine, 1);
    const int out_of_step = polls_until(machine, 1);
    EXPECT_LT(4 * out_of_step, in_step);
    answered_after(machine, out_of_step / 2);
    EXPECT_EQ(polls_until(machine, 1) - 1, 2 * (out_of_step - 1));  // the last look is the yield
    EXPECT_EQ(polls_until(machine, 1), out_of_step);
    for (int answers = 0; answers < 10; ++answers) answered_after(machine, 1);
    EXPECT_EQ(polls_until(machine, 1), in_step);
  });
}

TEST(Patience, PollsLessOftenWherePollsTakeLonger) {
  in_a_thread([](Machine<SetClock>& machine) {
    const int of_memory = polls_until(machine, 1) - 1;
    machine.poll_cost = 4;
    for (int answers = 0; answers < 10; ++answers) answered_after(machine, 1);
    EXPECT_EQ(polls_until(machine, 1) - 1, of_memory / 16);
    machine.cores = 2;  // enough, and yet another thread may want this core
    const int until_one = polls_until(machine, 1);
    EXPECT_LT(polls_until(machine, 11) - until_one, 10 * of_memory / 16);
  });
}

TEST(Patience, WhatHadComeBeforeTheFirstLookTellsNothing) {
  in_a_thread([](const Machine<SetClock>& machine) {
    (void)polls_until(machine, 1);
    const int out_of_step = polls_until(machine, 1);
    for (int messages = 0; messages < 10; ++messages) answered_after(machine, 0);
    EXPECT_EQ(polls_until(machine, 1), out_of_step);
  });
}

// 80 us of polls and yields without another thread.
TEST(Patience, SleepsWhenItsTimeIsOver) {
  in_a_thread([](const Machine<SetClock>& machine) {
    EXPECT_GT(polls_until(machine, 70), 0);
    EXPECT_EQ(polls_until(machine, 90), -1);
  });
}

TEST(Patience, WhatOthersRunIsNotItsTime) {
  in_a_thread([](const Machine<SetClock>& machine) {
    SetClock::others = 100 * us;
    EXPECT_GT(polls_until(machine, 4), 0);
  });
}

TEST(Patience, SleepsAfterAFewLongYields) {
  in_a_thread([](const Machine<SetClock>& machine) {
    SetClock::others = 3'000 * us;
    EXPECT_EQ(polls_until(machine, 6), -1);
  });
}

TEST(Patience, SomethingThatMovesBeginsAnew) {
  in_a_thread([](const Machine<SetClock>& machine) {
    SetClock::others = 3'000 * us;
    Patience<SetClock> patience(machine);
    for (int messages = 0; messages < 100; ++messages) {
      for (SetClock::yields = 0; SetClock::yields < 3;) ASSERT_TRUE(patience.spend());
      patience.reset();
    }
  });
}

}  // namespace
}  // namespace heddle::safety
