// Bounded memory: once a lock and its callers' nodes are there, taking it and passing it on allocates nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <latch>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "locks.hpp"
#include "platform/native.hpp"

namespace {
thread_local long allocations = 0;  // of this thread
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes != 0 ? bytes : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace heddle::test {
namespace {

template <class L>
long allocations_of_use() {
  constexpr int threads = 3;
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

TEST(Lock, AllocatesNothingOnTheWay) {
  Locks<platform::Native>::for_each(
      []<class C>(C) { EXPECT_EQ(allocations_of_use<typename C::type>(), 0) << std::string(C::name); });
}

// Or the test above could not fail.
TEST(Lock, AllocationsAreSeen) {
  const long before = allocations;
  const auto made = std::make_unique<int>(1);
  EXPECT_EQ(allocations, before + *made);
}

}  // namespace
}  // namespace heddle::test
