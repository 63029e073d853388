// Claims: a message has one of its two ends, and its word is used again only when both are through with it.
#include "messaging/message/protocol/local/claims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <set>
#include <vector>

namespace {
long allocations = 0;
}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const at = std::malloc(bytes)) return at;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }

namespace heddle::message {
namespace {

class ClaimsTest : public testing::Test {
 protected:
  static constexpr std::size_t bytes = std::size_t{1} << 20;
  struct alignas(4096) Page {
    std::byte bytes[4096];
  };

  std::unique_ptr<Page[]> memory_ = std::make_unique<Page[]>(bytes / sizeof(Page));
  node::Heap heap_{memory_[0].bytes, bytes, 0};
  Claims claims_{heap_};
};

TEST_F(ClaimsTest, AMessageIsTheReceiversOrTheSendersAgain) {
  const Claims::Offset taken = claims_.make(), withdrawn = claims_.make();
  EXPECT_EQ(claims_.in_use(), 2U);
  EXPECT_TRUE(Claims::receive(heap_, taken));
  EXPECT_FALSE(claims_.withdraw(taken));
  EXPECT_TRUE(claims_.withdraw(withdrawn));
  EXPECT_FALSE(Claims::receive(heap_, withdrawn));
  EXPECT_TRUE(Claims::is_withdrawn(heap_, withdrawn));
  claims_.recycle(taken);
  EXPECT_EQ(claims_.in_use(), 0U);
}

TEST_F(ClaimsTest, OneThatIsLeftIsUnreadUntilItIsReceived) {
  std::vector<Claims::Offset> left;
  left.reserve(5);
  for (int i = 0; i < 5; ++i) left.push_back(claims_.make());
  for (const Claims::Offset claim : left) claims_.leave(claim);
  EXPECT_EQ(claims_.in_use(), 0U);
  EXPECT_EQ(claims_.unread(), 5U);
  EXPECT_TRUE(Claims::receive(heap_, left[3]));
  EXPECT_TRUE(Claims::receive(heap_, left[0]));
  EXPECT_EQ(claims_.unread(), 3U);
}

// However many are made: none of an unread message is among them.
TEST_F(ClaimsTest, OneThatIsUnreadIsNotUsedAgain) {
  const Claims::Offset unread = claims_.make(), read = claims_.make();
  claims_.leave(unread);
  claims_.leave(read);
  ASSERT_TRUE(Claims::receive(heap_, read));
  bool again = false;
  for (int i = 0; i < 300; ++i) {
    const Claims::Offset made = claims_.make();
    ASSERT_NE(made, node::nowhere);
    ASSERT_NE(made, unread);
    again |= made == read;
  }
  EXPECT_TRUE(again);
  EXPECT_TRUE(Claims::receive(heap_, unread));
}

// The end of a message cannot report a lack of memory.
TEST_F(ClaimsTest, EndWithoutMemory) {
  std::vector<Claims::Offset> made;
  for (int i = 0; i < 300; ++i) made.push_back(claims_.make());
  EXPECT_GE(claims_.node_memory(), made.size() * 64);
  EXPECT_EQ(claims_.node_memory(), heap_.used());
  const long before = allocations;
  for (std::size_t i = 0; i < made.size(); ++i) i % 2 == 0 ? claims_.leave(made[i]) : claims_.recycle(made[i]);
  EXPECT_EQ(claims_.unread(), made.size() / 2);
  for (std::size_t i = 0; i < made.size(); i += 2) EXPECT_TRUE(Claims::receive(heap_, made[i]));
  EXPECT_EQ(claims_.unread(), 0U);
  EXPECT_EQ(allocations, before);
}

TEST_F(ClaimsTest, AreInMemoryOfTheirOwn) {
  constexpr std::size_t length = 64 * 1024;
  const node::Offset before = heap_.allocate(length);
  ASSERT_NE(before, node::nowhere);
  std::fill_n(heap_.at<unsigned char>(before), length, 0xff);
  std::set<Claims::Offset> made;
  for (int i = 0; i < 300; ++i) {
    const Claims::Offset claim = claims_.make();
    ASSERT_NE(claim, node::nowhere);
    EXPECT_TRUE(made.insert(claim).second) << "made twice";
  }
  const unsigned char* const bytes = heap_.at<unsigned char>(before);
  EXPECT_TRUE(std::all_of(bytes, bytes + length, [](unsigned char byte) { return byte == 0xff; }));
}

}  // namespace
}  // namespace heddle::message
