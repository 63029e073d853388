// Claims: a message has one of its two ends, and its word is used again only when both are through with it.
#include "messaging/message/protocol/local/claims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

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
