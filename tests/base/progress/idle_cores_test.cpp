// The progress threads by themselves: whom they are there for, when they are called, and that what is left to them is done.
#include "base/progress/idle_cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace heddle::progress {
namespace {

class Work final : public Attended {
 public:
  bool ready() const override { return may_find_ || any_unsent(); }
  bool must_ask() const override { return must_ask_; }
  bool any_unsent() const override { return left_.load(std::memory_order_relaxed) != 0; }
  std::uint32_t taken() const override {
    looks_.fetch_add(1, std::memory_order_relaxed);
    return is_taken_.load(std::memory_order_relaxed) ? taken_.fetch_add(1, std::memory_order_relaxed) : 0;
  }
  PollResult advance(bool full) override {
    if (full) asked_.fetch_add(1, std::memory_order_relaxed);
    const int found = left_.exchange(0, std::memory_order_acq_rel);
    if (found != 0) looks_before_ = looks() - looks_when_left_.load(std::memory_order_relaxed);
    done_.fetch_add(found, std::memory_order_acq_rel);
    return {.made_progress = found != 0, .complete = true};
  }

  void leave_one() {
    looks_when_left_.store(looks(), std::memory_order_relaxed);
    left_.fetch_add(1, std::memory_order_acq_rel);
  }
  // Until the last one was done that was left; once done() says so.
  std::int64_t looks_before() const { return looks_before_; }
  int done() const { return done_.load(std::memory_order_acquire); }
  // Before there are progress threads: what arrives has to be asked for; only an attempt finds out whether something has.
  void come_from_elsewhere() { must_ask_ = true; }
  void show_nothing() { may_find_ = true; }
  // The program has taken a message whenever a thread polls.
  void take_always() { is_taken_.store(true, std::memory_order_relaxed); }
  std::int64_t looks() const { return looks_.load(std::memory_order_relaxed); }
  int asked() const { return asked_.load(std::memory_order_relaxed); }

 private:
  bool must_ask_ = false;
  bool may_find_ = false;
  std::int64_t looks_before_ = 0;
  std::atomic<std::int64_t> looks_when_left_{0};
  std::atomic<int> asked_{0};
  std::atomic<int> left_{0};
  std::atomic<int> done_{0};
  std::atomic<bool> is_taken_{false};
  mutable std::atomic<std::uint32_t> taken_{1};
  mutable std::atomic<std::int64_t> looks_{0};
};

// The core of this thread idles between two looks.
bool comes(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(30));
  }
  return true;
}

class IdleCoresByPath : public testing::TestWithParam<Deferral> {
 protected:
  IdleCoresByPath() { sched_getaffinity(0, sizeof cores_, &cores_); }

  bool listens() const { return bell_.blocked.load(std::memory_order_relaxed) == bell_.progress_thread_listens; }

  cpu_set_t cores_;
  sync::Doorbell<platform::Native> bell_{};
  Work work_;
};

TEST_P(IdleCoresByPath, DoesNotPollBeforeTheFirstCall) {
  IdleCores idle(work_, bell_, cores_, GetParam());
  EXPECT_TRUE(comes([&] { return listens(); }));
  EXPECT_TRUE(idle.blocked());
  EXPECT_FALSE(idle.available());
}

TEST_P(IdleCoresByPath, OneQuestionCallsNoThread) {
  IdleCores idle(work_, bell_, cores_, GetParam());
  ASSERT_TRUE(comes([&] { return listens(); }));
  (void)idle.available();
  EXPECT_EQ(bell_.calls.load(std::memory_order_relaxed), 0U);
}

TEST_P(IdleCoresByPath, SeveralInARowFindACore) {
  IdleCores idle(work_, bell_, cores_, GetParam());
  EXPECT_TRUE(comes([&] { return idle.available(); }));
  EXPECT_NE(bell_.calls.load(std::memory_order_relaxed), 0U);
}

TEST_P(IdleCoresByPath, WhatIsLeftIsDoneAndThenTheySleep) {
  IdleCores idle(work_, bell_, cores_, GetParam());
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(comes([&] { return idle.available(); }));
    work_.leave_one();
    platform::Native::light_fence();
    if (idle.blocked()) bell_.call();
    ASSERT_TRUE(comes([&] { return work_.done() == i; }));
  }
  EXPECT_TRUE(comes([&] { return idle.blocked(); }));
}

// Attempts that move nothing are made less and less often. A send deferred meanwhile does not wait for the next one, which comes after some
// hundred looks.
TEST_P(IdleCoresByPath, WhatIsLeftDoesNotWaitForAttemptsAtOtherThings) {
  work_.show_nothing();
  IdleCores idle(work_, bell_, cores_, GetParam());
  std::vector<std::int64_t> looks;
  for (int i = 1; i <= 51; ++i) {
    ASSERT_TRUE(comes([&] { return idle.available(); }));
    usleep(100);
    work_.leave_one();
    platform::Native::light_fence();
    if (idle.blocked()) bell_.call();
    ASSERT_TRUE(comes([&] { return work_.done() == i; }));
    looks.push_back(work_.looks_before());
  }
  std::ranges::nth_element(looks, looks.begin() + 25);
  EXPECT_LE(looks[25], 5);
}

TEST_P(IdleCoresByPath, WhatComesFromElsewhereIsAskedForBeforeTheySleep) {
  work_.come_from_elsewhere();
  IdleCores idle(work_, bell_, cores_, GetParam());
  ASSERT_TRUE(comes([&] { return idle.blocked() && work_.asked() == 1; }));
  bell_.call();
  EXPECT_TRUE(comes([&] { return work_.asked() == 2; }));
}

TEST_P(IdleCoresByPath, EndsWhileItIsSpinning) {
  IdleCores idle(work_, bell_, cores_, GetParam());
  EXPECT_TRUE(comes([&] { return idle.available(); }));
}

using IdleCoresOfBusyProgram = IdleCoresByPath;

// They look once in 10 us, not all the time, and do not listen.
TEST_P(IdleCoresOfBusyProgram, HasItsCountersToItself) {
  work_.take_always();
  IdleCores idle(work_, bell_, cores_, GetParam());
  ASSERT_TRUE(comes([&] { return listens(); }));
  bell_.call();
  ASSERT_TRUE(comes([&] { return work_.looks() > 10; }));
  const std::int64_t begin = platform::Native::now();
  const std::int64_t looks = work_.looks();
  ASSERT_TRUE(comes([&] { return work_.looks() > looks + 100; }));
  const std::int64_t seen = work_.looks() - looks;
  EXPECT_LE(seen, 2 * (platform::Native::now() - begin) / 10'000 + 10);
  EXPECT_FALSE(listens());
}

INSTANTIATE_TEST_SUITE_P(Default, IdleCoresOfBusyProgram, testing::Values(Deferral::none),
                         [](const auto&) { return "undeferred"; });
INSTANTIATE_TEST_SUITE_P(Paths, IdleCoresByPath, testing::Values(Deferral::tasklet, Deferral::direct),
                         [](const auto& info) { return info.param == Deferral::direct ? "direct" : "tasklet"; });

}  // namespace
}  // namespace heddle::progress
