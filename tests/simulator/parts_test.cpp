// The parts of the simulated machine without a program.
#include <gtest/gtest.h>

#include "simulator/fuzz.hpp"
#include "simulator/memory.hpp"
#include "simulator/stores.hpp"

namespace heddle::simulator {
namespace {

// Four cores, two a cluster, all in one socket; a line costs its distance.
Machine machine() {
  Machine m;
  m.cpus = 4;
  m.cpus_per_cluster = 2;
  m.cpus_per_socket = 4;
  m.latency = {1, 10, 100, 1000, 5000};
  m.cache_lines = 64;
  m.prefetched = 0;
  return m;
}

constexpr std::uintptr_t somewhere = 0x10000;

class MemoryTest : public testing::Test {
 protected:
  // How long the access takes; 0: it hits.
  Time costs(unsigned cpu, Access access, std::uintptr_t address = somewhere) {
    now_ += 100'000;  // no line is busy any more
    Time end = now_;
    if (!memory.hits(cpu, address, access, end, 1)) end = memory.fetch(cpu, address, access, now_, 1).end;
    return end - now_;
  }
  Time now_ = 0;
  Machine machine_ = machine();
  Memory memory{machine_};
};

TEST_F(MemoryTest, TheFirstAccessComesFromMemory) {
  EXPECT_EQ(costs(0, Access::read), 5000U);
  EXPECT_EQ(costs(0, Access::read), 0U);
}

TEST_F(MemoryTest, AWriterTakesTheLineFromAll) {
  costs(0, Access::write);
  EXPECT_EQ(costs(1, Access::read), 10U) << "of the same cluster";
  EXPECT_EQ(costs(2, Access::read), 100U) << "of the other one, from the newest copy";
  EXPECT_EQ(costs(0, Access::read), 0U) << "the former owner keeps a copy";
  EXPECT_NE(costs(0, Access::write), 0U) << "and has to ask before it writes";
  EXPECT_EQ(costs(1, Access::read), 10U);
  EXPECT_EQ(costs(2, Access::update), 100U);
  EXPECT_EQ(costs(2, Access::write), 0U);
}

TEST_F(MemoryTest, OwnersServeOneAfterTheOther) {
  costs(0, Access::write);
  now_ += 100'000;
  const Time first = memory.fetch(1, somewhere, Access::update, now_, 1).end;
  const Time second = memory.fetch(2, somewhere, Access::update, now_, 1).end;
  EXPECT_EQ(first, now_ + 10);
  EXPECT_EQ(second, first + 100);
}

TEST_F(MemoryTest, AnOwnerUsesItsLineUntilTheNextRequestArrives) {
  const auto hits = [&](unsigned cpu, Access access, Time at) { return memory.hits(cpu, somewhere, access, at, 1); };
  costs(0, Access::write);
  now_ += 100'000;
  const Time first = memory.fetch(2, somewhere, Access::update, now_, 1).end;
  EXPECT_TRUE(hits(0, Access::write, now_ + 49));
  EXPECT_FALSE(hits(0, Access::write, now_ + 50));
  EXPECT_FALSE(hits(1, Access::read, now_ + 1)) << "it never had it";
  const Time second = memory.fetch(3, somewhere, Access::read, now_, 1).end;
  EXPECT_EQ(second, first + 10);
  EXPECT_TRUE(hits(2, Access::update, first + 4)) << "the request of the next one comes 5 later";
  EXPECT_FALSE(hits(2, Access::update, first + 5));
  EXPECT_TRUE(hits(2, Access::read, first + 5)) << "it keeps a copy";
}

TEST_F(MemoryTest, CopiesAreServedSideBySide) {
  costs(0, Access::write);
  costs(1, Access::read);
  now_ += 100'000;
  EXPECT_EQ(memory.fetch(2, somewhere, Access::read, now_, 1).end, now_ + 100);
  EXPECT_EQ(memory.fetch(3, somewhere, Access::read, now_, 1).end, now_ + 10);
}

TEST_F(MemoryTest, ACacheForgetsWhatWasUsedLongAgo) {
  costs(0, Access::read);
  for (unsigned i = 1; i <= 64 * 4; ++i) costs(0, Access::read, somewhere + i * line_bytes);
  EXPECT_NE(costs(0, Access::read), 0U);
}

TEST_F(MemoryTest, APrefetchedLineIsWaitedForByItsFirstUse) {
  memory.prefetch(0, somewhere, Access::write, now_);
  Time clock = now_;
  EXPECT_TRUE(memory.hits(0, somewhere, Access::write, clock, 1));
  EXPECT_EQ(clock, now_ + 5000);
}

TEST_F(MemoryTest, EqualStepsAreFetchedAhead) {
  machine_.prefetched = 2;
  constexpr std::uintptr_t step = 2 * line_bytes;
  for (unsigned i = 0; i != 3; ++i) memory.train(0, somewhere + i * step, Access::read, now_, 7);
  EXPECT_EQ(costs(0, Access::read, somewhere + 3 * step), 0U);
  EXPECT_EQ(costs(0, Access::read, somewhere + 4 * step), 0U);
  EXPECT_NE(costs(0, Access::read, somewhere + 9 * step), 0U);
}

TEST_F(MemoryTest, ASharedFileHasOneLineAtAllAddresses) {
  constexpr std::uintptr_t here = 0x100000, there = 0x200000;
  memory.map(here, 8192, 42, 4096);
  memory.map(there, 4096, 42, 8192);
  EXPECT_EQ(memory.identity(here + 4096 + 70), memory.identity(there + 70));
  EXPECT_NE(memory.identity(here), memory.identity(there));
  costs(0, Access::write, there);
  EXPECT_EQ(costs(0, Access::read, here + 4096), 0U);
  memory.unmap(there, 4096);
  EXPECT_NE(memory.identity(here + 4096), memory.identity(there));
}

TEST(StoresTest, LeaveInOrder) {
  std::uint32_t a = 0, b = 0, read = 0;
  Stores stores;
  stores.add<std::uint32_t>(&a, 1, false);
  stores.add<std::uint32_t>(&b, 2, true);
  stores.add<std::uint32_t>(&a, 3, false);
  EXPECT_EQ(a, 0U);
  EXPECT_TRUE(stores.newest(&a, read));
  EXPECT_EQ(read, 3U) << "the thread itself sees its newest store";
  stores.leave_one(0);
  EXPECT_EQ(a, 1U);
  EXPECT_EQ(b, 0U);
  stores.leave_all();
  EXPECT_EQ(a, 3U);
  EXPECT_EQ(b, 2U);
}

TEST(StoresTest, AReleasingStoreLeavesAfterOlderOnes) {
  std::uint32_t a = 0, b = 0;
  Stores stores;
  stores.add<std::uint32_t>(&a, 1, false);
  stores.add<std::uint32_t>(&b, 2, true);
  stores.leave_one(1);
  EXPECT_EQ(a, 1U);
  EXPECT_EQ(b, 0U);
  stores.add<std::uint32_t>(&a, 5, false);
  stores.leave_one(1);
  EXPECT_EQ(a, 5U) << "another one passes";
  EXPECT_EQ(b, 0U);
}

TEST(StoresTest, APartOfAStoreIsReadFromMemory) {
  std::uint64_t a = 0;
  auto* const half = reinterpret_cast<std::uint32_t*>(&a);
  Stores stores;
  stores.add<std::uint64_t>(&a, 0x200000001, false);
  std::uint32_t read = 0;
  EXPECT_FALSE(stores.newest(half + 1, read));
  EXPECT_EQ(half[1], 2U) << "so it has left";
  EXPECT_TRUE(stores.empty());
}

TEST(FuzzTest, ChangePointsEnd) {
  Settings settings;
  settings.fuzz = true;
  settings.fuzz_changes = 2;
  settings.machine.access = 100;
  Fuzz fuzz(settings);
  EXPECT_GT(fuzz.next_change(1000), 1000U);
  EXPECT_NE(fuzz.next_change(1000), never);
  EXPECT_EQ(fuzz.next_change(1000), never);
}

}  // namespace
}  // namespace heddle::simulator
