// Credits between two ranks (src/network/credits.hpp): what has not been polled never costs more than the window, what is stored no more than the
// bound and a window, none is lost, and the sender of an open receiver that has polled everything always has half of the window.
#include "network/credits.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <random>

namespace heddle::lln {
namespace {

TEST(Credits, EndWithTheWindow) {
  Credits sender;
  std::uint64_t used = 0;
  for (; sender.suffice_for(0); used += Credits::cost(0)) sender.consume(0);
  EXPECT_EQ(used, sender.consumed());
  EXPECT_LE(used, Credits::window);
  EXPECT_GT(used + Credits::cost(0), Credits::window);
  sender.replenish(static_cast<std::uint32_t>(Credits::cost(0)));
  EXPECT_TRUE(sender.suffice_for(0));
  EXPECT_FALSE(sender.suffice_for(1));
}

TEST(Credits, AreTooFewForAMessageLongerThanTheWindow) {
  EXPECT_FALSE(Credits().suffice_for(Credits::window));
  EXPECT_FALSE(Credits().suffice_for(static_cast<std::size_t>(-1)));
}

TEST(Credits, AreKeptTogetherForAMessageLongerThanHalfOfTheWindow) {
  for (const std::size_t bytes :
       {Credits::longest_at_first + 1, std::size_t{Credits::window}, std::size_t{Credits::widest} / 3}) {
    Credits sender;
    Credits receiver;
    while (receiver.is_narrow_for(bytes)) {
      EXPECT_FALSE(sender.suffice_for(bytes)) << receiver.width();
      ASSERT_TRUE(receiver.can_widen());
      receiver.widen();
      sender.replenish(receiver.owed());
      receiver.clear_owed();
    }
    ASSERT_TRUE(sender.suffice_for(bytes)) << receiver.width();
    sender.consume(bytes);
    receiver.free(bytes);
    EXPECT_FALSE(receiver.is_due()) << "each such message is answered by credit, " << receiver.width();
  }
}

TEST(Credits, AreReturnedWhenHalfOfTheWindowIsDue) {
  Credits receiver;
  std::uint64_t freed = 0;
  while (!receiver.is_due()) {
    receiver.free(100);
    freed += Credits::cost(100);
  }
  EXPECT_EQ(receiver.owed(), freed);
  EXPECT_GE(freed, Credits::window / 2);
  EXPECT_LT(freed, Credits::window / 2 + Credits::cost(100));
  receiver.clear_owed();
  EXPECT_EQ(receiver.owed(), 0U);
  EXPECT_FALSE(receiver.is_due());
}

TEST(Credits, BecomeMoreWhenTheWindowIsWidened) {
  Credits sender;
  Credits receiver;
  std::int64_t width = Credits::window;
  for (; receiver.can_widen(); width *= 2) {
    EXPECT_EQ(receiver.width(), width);
    receiver.widen();
    sender.replenish(receiver.owed());
    receiver.clear_owed();
  }
  EXPECT_EQ(width, Credits::widest);
  std::uint64_t used = 0;
  for (; sender.suffice_for(0); used += Credits::cost(0)) sender.consume(0);
  EXPECT_LE(used, Credits::widest);
  EXPECT_GT(used + Credits::cost(0), Credits::widest);
}

TEST(Credits, AreReturnedForWhatIsStoredWithinTheBound) {
  constexpr std::uint64_t bound = 3 * Credits::window;
  Credits receiver;
  std::uint64_t stored = 0;
  for (; stored + Credits::cost(0) <= bound; stored += Credits::cost(0)) EXPECT_FALSE(receiver.store(0, bound));
  EXPECT_EQ(receiver.owed(), stored);
  EXPECT_FALSE(receiver.is_closed());
  EXPECT_TRUE(receiver.store(0, bound)) << "it closes, once";
  EXPECT_FALSE(receiver.store(0, bound));
  EXPECT_EQ(receiver.withheld(), 2 * Credits::cost(0));
  EXPECT_EQ(receiver.owed(), stored);
  bool opened = false;
  for (; !opened; stored -= Credits::cost(0)) opened = receiver.drop(0, bound);
  EXPECT_LE(receiver.stored(), bound / 2);
  EXPECT_GT(receiver.stored() + Credits::cost(0), bound / 2);
  EXPECT_EQ(receiver.withheld(), 0U);
  EXPECT_FALSE(receiver.is_closed());
}

TEST(Credits, AreWaitedForWhileTheReceiverIsOpen) {
  Credits sender;
  Credits receiver;
  while (sender.suffice_for(0)) sender.consume(0);
  EXPECT_TRUE(sender.are_coming_for(0));
  EXPECT_FALSE(sender.are_coming_for(Credits::longest_at_first + 1)) << "it needs a wider window";
  EXPECT_TRUE(receiver.store(0, 0));
  const std::int32_t closed = receiver.state();
  EXPECT_TRUE(receiver.drop(0, 0));
  const std::int32_t open = receiver.state();
  sender.hear(closed);
  EXPECT_FALSE(sender.are_coming_for(0));
  sender.hear(open);
  EXPECT_TRUE(sender.are_coming_for(0));
  sender.hear(closed);
  EXPECT_TRUE(sender.are_coming_for(0)) << "what is older comes late";
}

// At every moment: what the sender has consumed is on its way, kept, owed, or on its way back; or has been given on top.
TEST(Credits, AreConserved) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  Credits sender;
  Credits receiver;
  constexpr std::uint64_t bound = Credits::window;
  std::deque<std::size_t> coming;
  std::deque<std::size_t> kept;
  std::deque<std::uint32_t> returning;
  std::uint64_t under_way = 0;
  std::uint64_t in_return = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::size_t bytes = random() % 1500;
    if (random() % 50'000 == 0 && receiver.can_widen()) receiver.widen();
    switch (random() % 4) {
      case 0:
        if (sender.suffice_for(bytes)) {
          sender.consume(bytes);
          coming.push_back(bytes);
          under_way += Credits::cost(bytes);
        }
        break;
      case 1:
        if (random() % 2 == 0 && !kept.empty()) {
          (void)receiver.drop(kept.front(), bound);
          sender.hear(receiver.state());
          kept.pop_front();
        }
        if (coming.empty()) break;
        if (random() % 2 == 0) {
          receiver.free(coming.front());
        } else {
          (void)receiver.store(coming.front(), bound);
          sender.hear(receiver.state());
          kept.push_back(coming.front());
        }
        under_way -= Credits::cost(coming.front());
        coming.pop_front();
        break;
      case 2:
        // By itself, or now and then with something else.
        if (!receiver.is_due() && random() % 10 != 0) break;
        returning.push_back(receiver.owed());
        in_return += receiver.owed();
        receiver.clear_owed();
        break;
      default:
        if (returning.empty()) break;
        sender.replenish(returning.front());
        in_return -= returning.front();
        returning.pop_front();
    }
    ASSERT_LE(under_way, receiver.width());
    ASSERT_LE(receiver.stored(), bound + receiver.width());
    ASSERT_EQ(sender.consumed() + (receiver.width() - Credits::window),
              static_cast<std::int64_t>(under_way + receiver.withheld() + receiver.owed() + in_return));
    if (coming.empty() && returning.empty() && !receiver.is_due() && sender.are_coming_for(0)) {
      ASSERT_TRUE(sender.suffice_for(Credits::window / 2 - Credits::per_message));
    }
  }
}

}  // namespace
}  // namespace heddle::lln
