// malloc and its relatives, as a program sees them that has the library preloaded: what the C standard and POSIX promise, with several threads, and
// where blocks of which length lie.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "base/shared_heap/interface.hpp"

namespace heddle::shared_heap {
namespace {

constexpr std::size_t large = 64 * 1024;

const Place& place() {
  static const Place* const it = [] {
    auto* const ask = reinterpret_cast<Ask*>(dlsym(RTLD_DEFAULT, ask_name));
    return ask != nullptr ? ask() : nullptr;
  }();
  if (it == nullptr) {
    ADD_FAILURE() << "the library is not preloaded";
    std::abort();
  }
  return *it;
}

bool is_shared(const void* p) {
  return static_cast<const std::byte*>(p) >= place().start &&
         static_cast<const std::byte*>(p) < place().start + place().bytes;
}

TEST(Malloc, LargeBlocksAreShared) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{1000}, large - 1, large, large + 1, std::size_t{100} << 20}) {
    void* const block = malloc(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(is_shared(block), bytes >= large) << bytes;
    EXPECT_GE(malloc_usable_size(block), bytes);
    std::memset(block, 1, bytes);
    free(block);
  }
}

TEST(Malloc, ReallocKeepsWhatIsThere) {
  auto* block = static_cast<unsigned char*>(malloc(100));
  for (std::size_t i = 0; i < 100; ++i) block[i] = static_cast<unsigned char>(i);
  for (const std::size_t bytes :
       {large, 3 * large, std::size_t{40} << 20, 2 * large, std::size_t{5000}, large, std::size_t{100}}) {
    block = static_cast<unsigned char*>(realloc(block, bytes));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(is_shared(block), bytes >= large) << bytes;
    for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(block[i], i) << bytes;
  }
  free(block);
}

TEST(Malloc, CallocIsZero) {
  for (int round = 0; round < 3; ++round) {
    auto* const block = static_cast<unsigned char*>(calloc(large, 4));
    ASSERT_NE(block, nullptr);
    for (std::size_t i = 0; i < 4 * large; ++i) ASSERT_EQ(block[i], 0);
    std::memset(block, 0xEE, 4 * large);
    free(block);
  }
}

TEST(Malloc, RefusesWhatCannotBe) {
  volatile std::size_t half = SIZE_MAX / 2;
  errno = 0;
  EXPECT_EQ(calloc(half, 3), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  void* block = nullptr;
  EXPECT_EQ(posix_memalign(&block, 3, large), EINVAL);
  errno = 0;
  EXPECT_EQ(malloc(half), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(Malloc, AlignsAsAsked) {
  for (std::size_t alignment = 8; alignment <= std::size_t{4} << 20; alignment *= 2) {
    for (const std::size_t bytes : {std::size_t{10}, 2 * large}) {
      void* block = nullptr;
      ASSERT_EQ(posix_memalign(&block, alignment, bytes), 0);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
      EXPECT_EQ(is_shared(block), bytes >= large);
      std::memset(block, 1, bytes);
      free(block);
    }
  }
}

// Freed memory is used again, and unused memory goes back to the system.
TEST(Malloc, DoesNotGrowForEver) {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  for (int round = 0; round < 1000; ++round) {
    void* const block = malloc(bytes);
    ASSERT_TRUE(is_shared(block)) << round;
    static_cast<unsigned char*>(block)[bytes - 1] = 1;
    free(block);
  }
}

// Threads give blocks to each other.
TEST(Malloc, ManyThreads) {
  struct Block {
    unsigned char* start;
    std::size_t bytes;
    unsigned char filled;
  };
  std::mutex mutex;
  std::vector<Block> out;
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int step = 0; step < 2000; ++step) {
      const std::size_t bytes = 1 + random() % (4 * large);
      const auto filled = static_cast<unsigned char>(random());
      Block block{static_cast<unsigned char*>(malloc(bytes)), bytes, filled};
      std::memset(block.start, filled, bytes);
      {
        const std::lock_guard guard(mutex);
        out.push_back(block);
        std::swap(out[random() % out.size()], out.back());
        block = out.back();
        if (out.size() < 20) continue;
        out.pop_back();
      }
      for (std::size_t i = 0; i < block.bytes; ++i) ASSERT_EQ(block.start[i], block.filled);
      free(block.start);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i + 1);
  for (std::thread& thread : threads) thread.join();
  for (const Block& block : out) free(block.start);
}

}  // namespace
}  // namespace heddle::shared_heap
