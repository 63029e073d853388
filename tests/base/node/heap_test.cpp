// The heap of the job's segment: what it hands out, and when a block is free again.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "base/node/heap.hpp"

namespace heddle::node {
namespace {

constexpr std::size_t page = 4096;

// A segment as ranks find it: zero, at the start of a page.
class Segment {
 public:
  explicit Segment(std::size_t bytes)
      : bytes_(bytes), base_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (base_ == MAP_FAILED) std::abort();
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment() { munmap(base_, bytes_); }

  Heap heap(std::size_t reserved = 0) const { return {static_cast<std::byte*>(base_), bytes_, reserved}; }

 private:
  std::size_t bytes_;
  void* base_;
};

TEST(Heap, BlocksLieApartFromEachOtherAndFromWhatIsReserved) {
  constexpr std::size_t reserved = 3 * page + 1;
  const Segment segment(1 << 20);
  Heap heap = segment.heap(reserved);
  std::memset(heap.at<std::byte>(heap.reserved()), 0xff, reserved);
  Offset end = heap.reserved() + reserved;
  for (const std::size_t bytes : {std::size_t{1}, page, page + 1, 5 * page}) {
    const Offset block = heap.allocate(bytes);
    EXPECT_GE(block, end);
    EXPECT_EQ(block % page, 0U);
    for (std::size_t i = 0; i != bytes; ++i) EXPECT_EQ(*heap.at<std::byte>(block + i), std::byte{0});
    std::memset(heap.at<std::byte>(block), 0xff, bytes);
    end = block + bytes;
  }
}

TEST(Heap, ABlockIsFreeWhenEachOfItsUsersHasReleasedIt) {
  const Segment segment(1 << 20);
  Heap heap = segment.heap();
  const Offset block = heap.allocate(page, 3);
  for (int user = 0; user != 3; ++user) {
    EXPECT_NE(heap.allocate(page), block) << user << " users have released it";
    heap.release(block, page);
  }
  EXPECT_EQ(heap.allocate(page), block);
  heap.release(block, page);  // its next life has one user
  EXPECT_EQ(heap.allocate(page), block);
}

TEST(Heap, TheOnlyUserLeftSharesABlockAgain) {
  const Segment segment(1 << 20);
  Heap heap = segment.heap();
  const Offset block = heap.allocate(page, 2);
  EXPECT_FALSE(heap.share(block));
  for (int round = 0; round < 3; ++round) {
    heap.release(block, page);
    EXPECT_NE(heap.allocate(page), block);
    EXPECT_TRUE(heap.share(block));
    EXPECT_FALSE(heap.share(block));
  }
  heap.release(block, page);
  heap.release(block, page);
  EXPECT_EQ(heap.allocate(page), block);
}

// used() counts blocks with users, whatever was split or released before, but no channels.
TEST(Heap, CountsTheBytesInUse) {
  const Segment segment(64 * page);
  Heap heap = segment.heap(3 * page);
  EXPECT_EQ(heap.used(), 0U);
  EXPECT_NE(heap.allocate(4 * page, 1, Heap::Purpose::channel), nowhere);
  EXPECT_EQ(heap.used(), 0U);
  const Offset shared = heap.allocate(3 * page, 2), large = heap.allocate(16 * page);
  EXPECT_EQ(heap.used(), 20 * page);
  heap.release(shared, 3 * page);
  EXPECT_EQ(heap.used(), 20 * page) << "it has another user";
  heap.release(shared, 3 * page);
  EXPECT_EQ(heap.used(), 16 * page);
  heap.release(large, 16 * page);
  std::size_t pages = 0;
  while (heap.allocate(1) != nowhere) EXPECT_EQ(heap.used(), ++pages * page);
  EXPECT_GT(pages, 40U);
}

TEST(Heap, AFullSegmentIsSaidToBe) {
  const Segment segment(64 * page);
  Heap heap = segment.heap();
  std::vector<Offset> blocks;
  while (const Offset block = heap.allocate(page)) blocks.push_back(block);
  EXPECT_GT(blocks.size(), 50U);
  EXPECT_EQ(std::set(blocks.begin(), blocks.end()).size(), blocks.size());
  EXPECT_EQ(heap.allocate(~std::size_t{0} / 2), nowhere);
  heap.release(blocks[7], page);
  EXPECT_EQ(heap.allocate(page), blocks[7]);
}

// A program frees its large windows, and small ones have room.
TEST(Heap, LargeBlocksServeSmallOnesWhenNothingElseIsLeft) {
  constexpr std::size_t pages = 64;
  const Segment segment(2 * pages * page);
  Heap heap = segment.heap();
  const Offset large = heap.allocate(pages * page);
  while (heap.allocate(page) != nowhere) {
  }
  heap.release(large, pages * page);
  std::set<Offset> blocks;
  for (std::size_t i = 0; i != pages; ++i) {
    const Offset block = heap.allocate(page);
    EXPECT_GE(block, large);
    EXPECT_LT(block, large + pages * page);
    std::memset(heap.at<std::byte>(block), 0xff, page);
    blocks.insert(block);
  }
  EXPECT_EQ(blocks.size(), pages);
  EXPECT_EQ(heap.allocate(page), nowhere);
  heap.release(*blocks.begin(), page);
  EXPECT_EQ(heap.allocate(page), *blocks.begin());
}

// Users of a block write to it without atomics: the heap orders the lives of a block, whichever process ends them.
TEST(Heap, ThreadsPassBlocksOn) {
  const Segment segment(1 << 20);
  Heap heap = segment.heap();
  std::vector<std::jthread> crew;
  for (int id = 0; id != 4; ++id) {
    crew.emplace_back([&heap, id] {
      for (int round = 0; round != 500; ++round) {
        const Offset block = heap.allocate(page, 2);
        int* const words = heap.at<int>(block);
        words[1] = id;
        std::jthread other([&heap, block, words] {
          words[2] = 1;
          heap.release(block, page);
        });
        EXPECT_EQ(words[1], id);
        heap.release(block, page);
      }
    });
  }
}

}  // namespace
}  // namespace heddle::node
