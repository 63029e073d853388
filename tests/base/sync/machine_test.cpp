// The platforms themselves: the topology of this machine, and what waiting does on the real one.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/platform/machine.hpp"
#include "base/platform/native.hpp"
#include "base/sync/cohort_lock.hpp"
#include "base/sync/fast_buffer.hpp"
#include "base/sync/futex_lock.hpp"
#include "base/sync/hmcs_lock.hpp"
#include "base/sync/mcs_lock.hpp"
#include "base/sync/nemesis_queue.hpp"
#include "base/sync/user_counter.hpp"

namespace heddle::test {
namespace {

using platform::Native;
using platform::Sharing;

// Structures on hot paths and in shared memory must not grow unnoticed.
static_assert(sizeof(sync::FutexLock<Native>) == 12);
static_assert(sizeof(sync::McsLock<Native>) == 8);
static_assert(sizeof(sync::McsLock<Native>::node) == 16);
static_assert(sizeof(sync::UserCounter<Native>) == 4);
static_assert(sizeof(sync::NemesisQueue<Native>) == 2 * platform::cache_line);
static_assert(sizeof(sync::NemesisQueue<Native>::node) == 8);
static_assert(sizeof(sync::FastBuffer<Native, 56, 1>) == 3 * platform::cache_line, "the message is one line");

TEST(Machine, TopologyIsNested) {
  const auto machine = platform::read_topology({Sharing::core, Sharing::numa_node, Sharing::package});
  ASSERT_EQ(machine.levels(), 3U);
  ASSERT_GE(machine.processors(), std::thread::hardware_concurrency());
  for (std::size_t a = 0; a != machine.processors(); ++a) {
    for (std::size_t b = 0; b != a; ++b) {
      if (machine.domain(0, a) == machine.domain(0, b)) {
        EXPECT_EQ(machine.domain(2, a), machine.domain(2, b)) << "a core lies in one package";
      }
    }
  }
}

TEST(Machine, UnknownLevelsAndProcessorsAreOneDomain) {
  const platform::Topology none;
  EXPECT_EQ(none.domains(0), 1U);
  EXPECT_EQ(none.domain(3, 17), 0U);
}

// Hierarchical locks on the machine as it is.
TEST(Machine, HierarchicalLocksTakeItsTopology) {
  const auto machine = platform::read_topology({Sharing::core, Sharing::numa_node});
  sync::HmcsLock<Native, 3> tree(machine);
  sync::CohortLock<Native> cohort(machine);
  unsigned counter = 0;
  {
    std::vector<std::jthread> crew;
    for (unsigned id = 0; id != 4; ++id) {
      crew.emplace_back([&] {
        for (unsigned i = 0; i != 1000; ++i) {
          sync::Guard outer(tree);
          sync::Guard inner(cohort);
          ++counter;
        }
      });
    }
  }
  EXPECT_EQ(counter, 4000U);
}

// The owner of a mutex may be a user-level thread that the kernel thread of the next one has to run.
TEST(Native, MutexLetsTheRuntimeRunItsOwner) {
  static Native::mutex mutex;
  static unsigned yields = 0;
  mutex.lock();
  const platform::UserLevel fibers{[](std::uint32_t&) noexcept {
    if (++yields == 3) mutex.unlock();
    return true;
  }};
  platform::user_level.store(&fibers, std::memory_order_relaxed);
  mutex.lock();
  platform::user_level.store(nullptr, std::memory_order_relaxed);
  mutex.unlock();
  EXPECT_EQ(yields, 3U);
}

// A user-level thread runtime is asked to run others; the kernel is not.
TEST(Native, WaitsThroughTheRuntimeOfTheThread) {
  static Native::atomic<std::uint32_t> cell{0};
  static unsigned yields = 0;
  cell.store(0, platform::order::relaxed);
  const platform::UserLevel fibers{[](std::uint32_t& rests) noexcept {
    ++rests;
    if (++yields == 3) cell.store(1, platform::order::relaxed);
    return true;
  }};
  platform::user_level = &fibers;
  Native::await(cell, platform::order::acquire, [](std::uint32_t v) { return v == 1; });
  Native::park(cell, 1, platform::Scope::process);  // would sleep for ever in the kernel
  platform::user_level = nullptr;
  EXPECT_EQ(yields, 4U);
}

TEST(Native, ClockRunsAndThreadsDiffer) {
  const std::int64_t before = Native::now();
  std::uint32_t other = Native::thread();
  std::jthread([&other] { other = Native::thread(); }).join();
  EXPECT_NE(other, Native::thread());
  EXPECT_GE(Native::now(), before);
  EXPECT_LT(Native::cpu(), 4096U);
}

TEST(Native, PlacementIsAHint) {
  std::vector<std::byte> memory(1 << 20);
  Native::place(memory.data(), memory.size(), Native::numa());
  memory[4096] = std::byte{1};
  EXPECT_EQ(memory[4096], std::byte{1});
}

}  // namespace
}  // namespace heddle::test
