// Blocks of an arena against a list of what is out: none overlap, all are where and as long as they were asked for, and nothing is lost.
#include "base/shared_heap/arena.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace heddle::shared_heap {
namespace {

constexpr std::size_t page = Arena::page;
constexpr std::size_t whole = 1024 * page;
constexpr std::size_t reserved = page;

class ArenaTest : public testing::Test {
 protected:
  ArenaTest() {
    start_ = static_cast<std::byte*>(
        mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    EXPECT_TRUE(arena_.begin(start_, whole, reserved));
  }
  ~ArenaTest() override { munmap(start_, whole); }

  std::byte* allocate(std::size_t bytes, std::size_t alignment = 1) {
    bool fresh = false;
    return static_cast<std::byte*>(arena_.allocate(bytes, alignment, fresh));
  }

  std::byte* start_ = nullptr;
  Arena arena_;
};

TEST_F(ArenaTest, LeavesWhatIsReserved) {
  EXPECT_EQ(allocate(1), start_ + reserved);
  EXPECT_TRUE(arena_.contains(start_ + whole - 1));
  EXPECT_FALSE(arena_.contains(start_ + whole));
  EXPECT_FALSE(arena_.contains(start_ - 1));
}

TEST_F(ArenaTest, SaysWhatWasNeverUsed) {
  bool fresh = false;
  void* const block = arena_.allocate(3 * page, 1, fresh);
  EXPECT_TRUE(fresh);
  (void)arena_.release(block);
  EXPECT_EQ(arena_.allocate(2 * page, 1, fresh), block);
  EXPECT_FALSE(fresh);
}

TEST_F(ArenaTest, IsFullAndThenWholeAgain) {
  std::vector<std::byte*> all;
  for (std::byte* block = allocate(7 * page); block != nullptr; block = allocate(7 * page)) all.push_back(block);
  EXPECT_EQ(all.size(), (whole - reserved) / (7 * page));
  EXPECT_EQ(allocate(whole), nullptr);
  EXPECT_EQ(allocate(0), nullptr);
  std::byte* last = nullptr;
  std::size_t run = 0;
  for (std::byte* block : all) {
    const Arena::Run free = arena_.release(block);
    last = free.start;
    run = free.bytes;
  }
  EXPECT_EQ(last, start_ + reserved);
  EXPECT_EQ(run, all.size() * 7 * page);
  EXPECT_NE(allocate(all.size() * 7 * page), nullptr);
}

// A free run is a part of what is left, though pages that were never used are what is behind it.
TEST_F(ArenaTest, AFreeRunGrowsIntoWhatWasNeverUsed) {
  std::byte* const kept = allocate(page);
  std::byte* const block = allocate(100 * page);
  (void)arena_.release(block);
  bool fresh = true;
  EXPECT_EQ(arena_.allocate(whole - reserved - page, 1, fresh), block);
  EXPECT_FALSE(fresh);
  EXPECT_EQ(arena_.size_of(block), whole - reserved - page);
  EXPECT_EQ(arena_.release(kept).bytes, page);
  EXPECT_EQ(arena_.release(block).bytes, whole - reserved);
}

// Each block is filled with its number, and looked at when it goes.
TEST_F(ArenaTest, RandomProgram) {
  const char* const given = std::getenv("HEDDLE_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("HEDDLE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  struct Block {
    std::size_t bytes;
    unsigned char filled;
  };
  std::map<std::byte*, Block> out;
  const auto check_and_drop = [&](std::map<std::byte*, Block>::iterator it) {
    ASSERT_EQ(std::count(it->first, it->first + it->second.bytes, std::byte{it->second.filled}),
              static_cast<std::ptrdiff_t>(it->second.bytes));
    (void)arena_.release(it->first);
    out.erase(it);
  };
  const auto any = [&] { return std::next(out.begin(), static_cast<std::ptrdiff_t>(random() % out.size())); };
  for (int step = 0; step < 20'000; ++step) {
    SCOPED_TRACE(step);
    const auto filled = static_cast<unsigned char>(random());
    switch (random() % 4) {
      case 0:
      case 1: {
        const std::size_t bytes = 1 + random() % (40 * page), alignment = std::size_t{1} << random() % 17;
        std::byte* const block = allocate(bytes, alignment);
        if (block == nullptr) break;
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % std::max(alignment, page), 0u);
        ASSERT_TRUE(block >= start_ + reserved && block + bytes <= start_ + whole);
        ASSERT_GE(arena_.size_of(block), bytes);
        ASSERT_LT(arena_.size_of(block), bytes + page);
        std::memset(block, filled, bytes);
        const auto next = out.lower_bound(block);
        if (next != out.end()) {
          ASSERT_LE(block + bytes, next->first);
        }
        if (next != out.begin()) {
          ASSERT_LE(std::prev(next)->first + std::prev(next)->second.bytes, block);
        }
        out[block] = {bytes, filled};
        break;
      }
      case 2:
        if (!out.empty()) check_and_drop(any());
        break;
      default: {
        if (out.empty()) break;
        const auto it = any();
        const std::size_t bytes = 1 + random() % (50 * page);
        if (!arena_.resize(it->first, bytes)) break;
        const std::size_t kept = std::min(bytes, it->second.bytes);
        ASSERT_EQ(std::count(it->first, it->first + kept, std::byte{it->second.filled}),
                  static_cast<std::ptrdiff_t>(kept));
        std::memset(it->first, filled, bytes);
        it->second = {bytes, filled};
      }
    }
  }
  while (!out.empty()) check_and_drop(out.begin());
  EXPECT_NE(allocate(whole - reserved - page), nullptr) << "something has been lost";
}

}  // namespace
}  // namespace heddle::shared_heap
