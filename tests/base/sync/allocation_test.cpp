// Bounded memory: once a lock and its callers' nodes are there, taking it and passing it on allocates nothing. And where there is no memory for a
// node, the call fails, and the lock is as before.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <latch>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/platform/native.hpp"
#include "locks.hpp"

namespace {
thread_local long allocations = 0;  // of this thread
thread_local bool no_memory = false;

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  if (!no_memory)
    if (void* p = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment)) return p;
  throw std::bad_alloc();
}
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace heddle::test {
namespace {

constexpr int threads = 3;

template <class L>
long allocations_of_use() {
  constexpr int rounds = 500;
  const auto lock = std::make_unique<L>();
  std::latch ready(threads);
  std::vector<long> found(threads);
  {
    std::vector<std::jthread> crew;
    crew.reserve(threads);
    for (int t = 0; t < threads; ++t)
      crew.emplace_back([&, t] {
        typename L::node node;
        lock->lock(node);
        lock->unlock(node);
        ready.arrive_and_wait();
        const long before = allocations;
        for (int i = 0; i < rounds; ++i) {
          if (i % 4 != 0 || !lock->try_lock(node)) lock->lock(node);
          lock->unlock(node);
        }
        found[static_cast<std::size_t>(t)] = allocations - before;
      });
  }
  long all = 0;
  for (const long n : found) all += n;
  return all;
}

// Calls that found no memory for their nodes, while another thread held the lock.
template <class L>
int failures() {
  const auto lock = std::make_unique<L>();
  typename L::node holder;
  lock->lock(holder);
  int failed = 0;
  const auto fails = [&](auto acquire) {
    typename L::node node;
    no_memory = true;
    try {
      acquire(node);
    } catch (const std::bad_alloc&) {
      ++failed;
    }
    no_memory = false;
  };
  fails([&](auto& node) { lock->lock(node); });
  fails([&](auto& node) { lock->lock_low(node); });
  lock->unlock(holder);

  // A later thread finds the lock as if they had not called.
  typename L::node low;
  lock->lock_low(low);
  lock->unlock(low);
  typename L::node high;
  lock->lock(high);
  lock->unlock(high);
  return failed;
}

TEST(Lock, IsAsBeforeWhenThereIsNoMemoryForANode) {
  TwoClassLocks<platform::Native>::for_each(
      []<class C>(C) { EXPECT_EQ(failures<typename C::type>(), 2) << std::string(C::name); });
}

TEST(Lock, AllocatesNothingOnTheWay) {
  Locks<platform::Native>::for_each([]<class C>(C) {
    const std::string name(C::name);
    // The biased ones need a thread's node only once it has found the lock taken.
    EXPECT_LE(allocations_of_use<typename C::type>(), name.ends_with("clhub") ? threads : 0) << name;
  });
}

// Or the test above could not fail.
TEST(Lock, AllocationsAreSeen) {
  const long before = allocations;
  const auto made = std::make_unique<int>(1);
  struct alignas(platform::cache_line) Line {
    int one = 1;
  };
  const auto aligned = std::make_unique<Line>();
  EXPECT_EQ(allocations, before + *made + aligned->one);
}

}  // namespace
}  // namespace heddle::test
