// The plans for lengths at both sides of each threshold (choose.hpp).
#include "messaging/message/choose.hpp"

#include <gtest/gtest.h>

namespace heddle::message {
namespace {

constexpr std::size_t of_network = 8000, head = 16;

TEST(Choose, SendsEagerlyUpToTheLimitOfThePeer) {
  struct {
    PeerKind peer;
    std::size_t limit;
  } const cases[] = {{PeerKind::self, 16384},
                     {PeerKind::same_process, 4096},
                     {PeerKind::same_node, 16384},
                     {PeerKind::other_node, of_network}};
  for (const auto& [peer, limit] : cases) {
    const std::size_t longest = longest_eager(peer, of_network);
    EXPECT_EQ(longest, limit);
    EXPECT_EQ(plan_send(limit, false, longest, head), Leaving::eager);
    EXPECT_EQ(plan_send(limit + 1, false, longest, head), Leaving::announced);
    EXPECT_EQ(plan_send(limit - head, true, longest, head), Leaving::acknowledged);
    EXPECT_EQ(plan_send(limit - head + 1, true, longest, head), Leaving::announced);
  }
}

TEST(Choose, StagesEarlyOnlyWithMoreRanksThanCores) {
  EXPECT_FALSE(plan_early(1, false, {}));
  EXPECT_TRUE(plan_early(256 * 1024, true, {}));
  EXPECT_FALSE(plan_early(256 * 1024 + 1, true, {}));
  EXPECT_FALSE(plan_early(4095, true, {.staged_from = 4096}));
  EXPECT_TRUE(plan_early(4096, true, {.staged_from = 4096}));
  EXPECT_FALSE(plan_early(4096, true, {.staged_from = CopySettings::never}));
}

LocalCopy copy_of(const CopyCase& message, Copying way = Copying::by_kernel, const CopySettings& settings = {}) {
  return plan_copy(message, way, settings);
}

TEST(Choose, StagesWhatIsNotReadInPlace) {
  const CopyCase far{.bytes = 1 << 20, .readable = true, .mapped = false, .runs = true, .busy = false};
  EXPECT_EQ(copy_of(far, Copying::staged), LocalCopy::staged);
  CopyCase mapped = far;
  mapped.mapped = true;
  EXPECT_EQ(copy_of(mapped, Copying::staged), LocalCopy::split);
  CopyCase empty = far;
  empty.bytes = 0;
  EXPECT_EQ(copy_of(empty, Copying::staged), LocalCopy::single);
}

TEST(Choose, SplitsLongMessagesThatBothEndsCanCopy) {
  const CopyCase shortest{.bytes = 32 * 1024, .readable = true, .mapped = true, .runs = true, .busy = false};
  EXPECT_EQ(copy_of(shortest), LocalCopy::split);
  CopyCase other = shortest;
  other.bytes -= 1;
  EXPECT_EQ(copy_of(other), LocalCopy::single);
  other = shortest;
  other.runs = false;
  EXPECT_EQ(copy_of(other), LocalCopy::single);
  other = shortest;
  other.readable = false;
  EXPECT_EQ(copy_of(other), LocalCopy::single);
  EXPECT_EQ(copy_of(shortest, Copying::by_kernel, {.split_from = CopySettings::never}), LocalCopy::single);
  EXPECT_EQ(copy_of({.bytes = 1, .readable = true, .mapped = true, .runs = true, .busy = false}, Copying::by_kernel,
                    {.split_from = 1}),
            LocalCopy::split);
}

TEST(Choose, LetsABusyRankCopyAlone) {
  CopyCase message{.bytes = (1 << 20) - 1, .readable = true, .mapped = true, .runs = true, .busy = true};
  EXPECT_EQ(copy_of(message), LocalCopy::single);
  message.bytes = 1 << 20;
  EXPECT_EQ(copy_of(message), LocalCopy::split);
  message.mapped = false;
  EXPECT_EQ(copy_of(message), LocalCopy::single);
}

TEST(Choose, LetsTheNetworkMoveLongContiguousMessages) {
  EXPECT_EQ(plan_transfer(0, 1, true), Moving::not_at_all);
  EXPECT_EQ(plan_transfer(99, 100, true), Moving::pieces);
  EXPECT_EQ(plan_transfer(100, 100, true), Moving::direct);
  EXPECT_EQ(plan_transfer(100, 100, false), Moving::pieces);
  EXPECT_EQ(plan_transfer(100, 0, true), Moving::pieces);
}

}  // namespace
}  // namespace heddle::message
