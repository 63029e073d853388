// The possible results of one poll of all work: that nothing was left out.
#include "base/progress/pollables.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <thread>
#include <utility>

namespace heddle::progress {
namespace {

struct Work final : Pollable {
  explicit Work(
      std::function<void()> body = [] {}, bool of_program = false)
      : body_(std::move(body)) {
    calls_user = of_program;
  }
  bool poll() override {
    ++polls;
    body_();
    return finishes;
  }

  int polls = 0;
  bool finishes = false;

 private:
  std::function<void()> body_;
};

using Missed = Pollables::Missed;

struct PollablesTest : testing::Test {
  sync::Doorbell<platform::Native> bell{};
  Pollables list{bell};
};

TEST_F(PollablesTest, EachIsPolledOnce) {
  Work first, second, third;
  for (Work* work : {&first, &second, &third}) list.add(*work);
  second.finishes = true;
  PollResult result = list.poll(true, Missed::reported);
  EXPECT_TRUE(result.made_progress && result.complete);
  result = list.poll(true, Missed::reported);
  EXPECT_TRUE(!result.made_progress && result.complete);
  EXPECT_EQ(first.polls, 2);
  EXPECT_EQ(second.polls, 1);
  EXPECT_EQ(third.polls, 2);
}

TEST_F(PollablesTest, OnlyThreadsOfTheProgramMayCallItsFunctions) {
  Work others, users([] {}, true), last;
  for (Work* work : {&users, &others, &last}) list.add(*work);
  EXPECT_TRUE(list.poll(false, Missed::reported).complete);
  EXPECT_EQ(users.polls, 0);
  EXPECT_EQ(others.polls + last.polls, 2);
  EXPECT_TRUE(list.poll(true, Missed::reported).complete);
  EXPECT_EQ(users.polls, 1);
  EXPECT_EQ(others.polls + last.polls, 4);
}

// Another thread is in the middle of one: it may have looked before what the caller wants to be seen.
struct Held : PollablesTest {
  Held() {
    list.add(held);
    list.add(free);
    other = std::thread([this] { (void)list.poll(true, Missed::reported); });
    taken.wait();
  }
  void give_back() {
    seen.count_down();
    other.join();
  }

  std::latch taken{1}, seen{1};
  bool holds = true;
  Work held{[this] {
    if (!std::exchange(holds, false)) return;
    taken.count_down();
    seen.wait();
  }};
  Work free;
  std::thread other;
};

TEST_F(Held, APollIsIncompleteBesideAnother) {
  const PollResult result = list.poll(true, Missed::reported);
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(free.polls, 1) << "once, however many are left out";
  give_back();
  EXPECT_EQ(bell.rings.load(platform::order::relaxed), 0U) << "no thread sleeps";
  EXPECT_TRUE(list.poll(true, Missed::reported).complete);
}

TEST_F(Held, WhoGoesToSleepIsRungFor) {
  // As one who sleeps counts itself.
  bell.blocked.store(1, platform::order::relaxed);
  EXPECT_TRUE(list.poll(true, Missed::rung_for).complete);
  EXPECT_EQ(bell.rings.load(platform::order::relaxed), 0U);
  give_back();
  EXPECT_EQ(bell.rings.load(platform::order::relaxed), 1U);
  EXPECT_TRUE(list.poll(true, Missed::rung_for).complete);
  EXPECT_EQ(bell.rings.load(platform::order::relaxed), 1U) << "it has missed nothing this time";
}

}  // namespace
}  // namespace heddle::progress
