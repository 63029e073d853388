// What one poll of all work may say: that nothing was left out.
#include "progress/pollables.hpp"

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

TEST(Pollables, EachIsPolledOnce) {
  Pollables list;
  Work first, second, third;
  for (Work* work : {&first, &second, &third}) list.add(*work);
  second.finishes = true;
  PollResult result = list.poll();
  EXPECT_TRUE(result.made_progress && result.complete);
  result = list.poll();
  EXPECT_TRUE(!result.made_progress && result.complete);
  EXPECT_EQ(first.polls, 2);
  EXPECT_EQ(second.polls, 1);
  EXPECT_EQ(third.polls, 2);
}

TEST(Pollables, OnlyThreadsOfTheProgramMayCallItsFunctions) {
  Pollables list;
  Work others, users([] {}, true), last;
  for (Work* work : {&users, &others, &last}) list.add(*work);
  EXPECT_TRUE(list.poll(false).complete);
  EXPECT_EQ(users.polls, 0);
  EXPECT_EQ(others.polls + last.polls, 2);
  EXPECT_TRUE(list.poll(true).complete);
  EXPECT_EQ(users.polls, 1);
  EXPECT_EQ(others.polls + last.polls, 4);
}

// Another thread is in the middle of one: it may have looked before what the caller wants to be seen.
TEST(Pollables, APollIsIncompleteBesideAnother) {
  Pollables list;
  std::latch taken(1), seen(1);
  bool holds = true;
  Work held([&] {
    if (!std::exchange(holds, false)) return;
    taken.count_down();
    seen.wait();
  });
  Work free;
  list.add(held);
  list.add(free);
  std::thread other([&] { (void)list.poll(); });
  taken.wait();
  const PollResult result = list.poll();
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(free.polls, 1) << "once, however many are left out";
  seen.count_down();
  other.join();
  EXPECT_TRUE(list.poll().complete);
}

}  // namespace
}  // namespace heddle::progress
