// How long a message may wait for others (src/network/pace.hpp), in times of a post.
#include "network/pace.hpp"

#include <gtest/gtest.h>

namespace heddle::lln {
namespace {

constexpr std::uint64_t post = 100;

// A packet that was posted in that time, and what it carried.
Pace after_packet(std::uint64_t end, bool of_several) {
  PostCost cost;
  Pace pace;
  pace.posted(end - post, end, cost);
  pace.carried(of_several);
  return pace;
}

TEST(Pace, DelaysNothingBeforeTheFirstSend) { EXPECT_FALSE(Pace().more_follow(0)); }

TEST(Pace, HasWhatIsSentWaitForTwoPostsBehindAMessage) {
  const Pace pace = after_packet(1000, false);
  for (const std::uint64_t now : {1000, 1199}) {
    EXPECT_TRUE(pace.is_busy(now));
    EXPECT_TRUE(pace.more_follow(now));
  }
  EXPECT_FALSE(pace.is_busy(1200));
  EXPECT_FALSE(pace.more_follow(1200));
}

TEST(Pace, HasTheFirstOfABurstWaitSoonAfterAnother) {
  const Pace pace = after_packet(1000, true);
  EXPECT_FALSE(pace.is_busy(1200)) << "what is no message of the program's waits no longer";
  EXPECT_TRUE(pace.more_follow(1200));
  EXPECT_FALSE(pace.more_follow(1000 + 100 * post));
}

TEST(Pace, SendsAtOnceAgainWhatHasComeAlone) {
  Pace pace = after_packet(1000, true);
  pace.carried(false);
  EXPECT_FALSE(pace.more_follow(1200));
}

// A post that was held up says nothing of the network.
TEST(Pace, GoesByTheCheapestPost) {
  PostCost cost;
  Pace pace;
  pace.posted(0, 100, cost);
  pace.posted(1000, 51'000, cost);
  EXPECT_FALSE(pace.is_busy(51'400));
}

}  // namespace
}  // namespace heddle::lln
