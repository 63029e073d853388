#include "launch/boot/cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace heddle::boot {
namespace {

class Cores : public testing::Test {
 protected:
  Cores() { sched_getaffinity(0, sizeof allowed_, &allowed_); }
  ~Cores() override { sched_setaffinity(0, sizeof allowed_, &allowed_); }

  // The place among the allowed cores of the one that this thread runs on.
  int place() const {
    int place = 0;
    for (int cpu = sched_getcpu() - 1; cpu >= 0; --cpu) place += CPU_ISSET(cpu, &allowed_) ? 1 : 0;
    return place;
  }
  bool is_free() const {
    cpu_set_t now;
    return sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &allowed_) != 0;
  }

  cpu_set_t allowed_;
};

TEST_F(Cores, SpreadMovesIntoThePartAndBindsNoThread) {
  const int count = CPU_COUNT(&allowed_);
  for (int parts = 1; parts <= count; ++parts)
    for (int part = 0; part < parts; ++part) {
      bool there = false;
      // The kernel may take the thread elsewhere at once, but not every time.
      for (int attempt = 0; attempt < 1000 && !there; ++attempt) {
        spread(part, parts);
        there = place() * parts / count == part;
      }
      EXPECT_TRUE(there) << part << " of " << parts;
      EXPECT_TRUE(is_free());
    }
}

TEST_F(Cores, SpreadOverMorePartsThanCoresDoesNothing) {
  spread(1, CPU_COUNT(&allowed_) + 1);
  EXPECT_TRUE(is_free());
}

TEST_F(Cores, OneAllowedCoreIsOne) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cores(), 1);
}

}  // namespace
}  // namespace heddle::boot
