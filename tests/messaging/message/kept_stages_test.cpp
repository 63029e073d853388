// KeptStages: a peer that has been sent to gets its newest stage back, and what is kept stays bounded.
#include "messaging/message/protocol/local/kept_stages.hpp"

#include <gtest/gtest.h>

#include <set>

namespace heddle::message {
namespace {

using node::nowhere;
using node::Offset;

constexpr std::size_t bytes = 65'536, more = 131'072;

TEST(KeptStages, GiveAPeerTheOneThatItReadLast) {
  KeptStages kept;
  EXPECT_EQ(kept.take(3, bytes).stage, nowhere);
  EXPECT_EQ(kept.keep({3, 100, bytes}).stage, nowhere);
  EXPECT_EQ(kept.keep({4, 200, bytes}).stage, nowhere);
  EXPECT_EQ(kept.keep({3, 300, bytes}).stage, nowhere);
  EXPECT_EQ(kept.take(5, bytes).stage, nowhere);
  EXPECT_EQ(kept.take(3, more).stage, nowhere);
  EXPECT_EQ(kept.take(3, bytes).stage, 300U);
  EXPECT_EQ(kept.take(3, bytes).stage, 100U);
  EXPECT_EQ(kept.take(3, bytes).stage, nowhere);
  EXPECT_EQ(kept.take(4, bytes).stage, 200U);
}

TEST(KeptStages, GiveUpTheOldestOfAPeerThatDoesNotAnswer) {
  KeptStages kept;
  kept.keep({4, 1, more});
  for (Offset i = 100; i < 120; ++i) {
    const KeptStages::Kept released = kept.keep({3, i, i % 3 == 0 ? more : bytes});
    if (i < 100 + KeptStages::most_of_a_peer) {
      EXPECT_EQ(released.stage, nowhere);
    } else {
      EXPECT_EQ(released.stage, i - KeptStages::most_of_a_peer);
      EXPECT_EQ(released.bytes, released.stage % 3 == 0 ? more : bytes);
    }
  }
  EXPECT_EQ(kept.take(4, more).stage, 1U);
}

TEST(KeptStages, GiveUpTheOldestOfAllWhereThePeersAreMany) {
  KeptStages kept;
  for (int peer = 0; peer < 20; ++peer) {
    const Offset released = kept.keep({peer, static_cast<Offset>(1000 + peer), bytes}).stage;
    const int oldest = peer - static_cast<int>(KeptStages::most);
    EXPECT_EQ(released, oldest < 0 ? nowhere : static_cast<Offset>(1000 + oldest));
  }
}

TEST(KeptStages, GiveUpAll) {
  KeptStages kept;
  for (int peer = 0; peer < 4; ++peer) kept.keep({peer, static_cast<Offset>(1000 + peer), bytes});
  std::set<Offset> given;
  for (Offset stage; (stage = kept.take().stage) != nowhere;) given.insert(stage);
  EXPECT_EQ(given, (std::set<Offset>{1000, 1001, 1002, 1003}));
  EXPECT_EQ(kept.keep({9, 1, bytes}).stage, nowhere);
}

TEST(KeptStages, CountTheirMemory) {
  KeptStages kept;
  EXPECT_EQ(kept.node_memory(), 0U);
  kept.keep({1, 100, bytes});
  kept.keep({1, 200, more});
  EXPECT_EQ(kept.node_memory(), bytes + more);
  kept.keep({1, 300, more});
  EXPECT_EQ(kept.node_memory(), 2 * more);
  (void)kept.take(1, more);
  EXPECT_EQ(kept.node_memory(), more);
}

}  // namespace
}  // namespace heddle::message
