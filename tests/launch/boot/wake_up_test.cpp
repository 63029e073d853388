// The cost of a wake-up: there is an answer within the bounds wherever the two threads may run.
#include "launch/boot/wake_up.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace heddle::boot {
namespace {

void expect_an_answer() {
  const std::int64_t found = measure_wake_up();
  EXPECT_GT(found, 0);
  EXPECT_LE(found, wake_up_budget);
}

TEST(WakeUp, CostsSomething) {
  for (int i = 0; i < 20; ++i) expect_an_answer();
}

TEST(WakeUp, OnOneCoreToo) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  for (int i = 0; i < 20; ++i) expect_an_answer();
  sched_setaffinity(0, sizeof before, &before);
}

TEST(WakeUp, ManyAtOnce) {
  std::vector<std::thread> all;
  for (int t = 0; t < 8; ++t) all.emplace_back([] { expect_an_answer(); });
  for (std::thread& one : all) one.join();
}

}  // namespace
}  // namespace heddle::boot
