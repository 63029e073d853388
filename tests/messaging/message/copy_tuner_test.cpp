// CopyTuner takes the way that has been faster, and learns when that changes.
#include "messaging/message/protocol/local/copy_tuner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace heddle::message {
namespace {

using Kind = CopyTuner::Kind;
using enum Copying;
constexpr Kind idle{100'000, false}, busy{100'000, true}, longer{300'000, false};
constexpr int row_of(const Kind& kind) { return static_cast<int>(CopyTuner::try_of(kind.bytes).all()); }
constexpr int row = row_of(idle), first = static_cast<int>(CopyTuner::first_again);
constexpr int last = static_cast<int>(CopyTuner::last_again);

// The time of each way.
struct Times {
  std::uint64_t when_staged, by_kernel;
  std::uint64_t operator[](Copying way) const { return way == staged ? when_staged : by_kernel; }
};

// So many messages; how many of them the kernel has copied.
int send(CopyTuner& choice, const Kind& kind, const Times& times, int messages) {
  int taken = 0;
  for (int i = 0; i < messages; ++i) {
    const Copying way = choice.choose(kind);
    taken += way == by_kernel ? 1 : 0;
    choice.note(kind, way, times[way]);
  }
  return taken;
}

TEST(CopyTuner, TriesBothAndTakesTheFaster) {
  for (const bool kernel : {false, true}) {
    CopyTuner choice;
    const Times times = kernel ? Times{20'000, 10'000} : Times{10'000, 20'000};
    EXPECT_EQ(send(choice, idle, times, row), 0);
    EXPECT_EQ(send(choice, idle, times, row), row);
    EXPECT_EQ(send(choice, idle, times, first), kernel ? first : 0);
  }
}

// A way that was at a disadvantage in the first try is tried again soon.
TEST(CopyTuner, TriesAgainEverMoreSeldom) {
  CopyTuner choice;
  send(choice, idle, {10'000, 15'000}, 2 * row);
  for (int again = first; again <= 2 * last; again *= 2) {
    const int pause = std::min(again, last);
    EXPECT_EQ(send(choice, idle, {10'000, 15'000}, pause), 0) << again;
    EXPECT_EQ(send(choice, idle, {10'000, 15'000}, row), row) << again;
  }
}

TEST(CopyTuner, TriesLongMessagesLess) {
  CopyTuner choice;
  constexpr Kind longest{4'000'000, true};
  static_assert(row_of(longest) < row);
  send(choice, longest, {1'500'000, 1'000'000}, 2 * row_of(longest));
  EXPECT_EQ(send(choice, longest, {1'500'000, 1'000'000}, first), first);
}

TEST(CopyTuner, LearnsWhenTheFasterOneBecomesSlow) {
  CopyTuner choice;
  send(choice, idle, {10'000, 15'000}, 1'000);
  EXPECT_GT(send(choice, idle, {40'000, 15'000}, 1'000), 900);
}

TEST(CopyTuner, LearnsWhenTheOtherBecomesFaster) {
  CopyTuner choice;
  send(choice, idle, {10'000, 15'000}, 1'000);
  const Times times{10'000, 5'000};
  send(choice, idle, times, 3 * last);
  EXPECT_GT(send(choice, idle, times, 1'000), 900);
}

TEST(CopyTuner, SeldomTriesWhatIsMuchSlower) {
  constexpr int seldom = static_cast<int>(CopyTuner::last_again_if_far_behind), many = 20'000;
  CopyTuner choice;
  send(choice, idle, {10'000, 50'000}, many);
  EXPECT_EQ(send(choice, idle, {10'000, 50'000}, 2 * (seldom + row)), 2 * row);
  CopyTuner close;
  send(close, idle, {10'000, 15'000}, many);
  EXPECT_EQ(send(close, idle, {10'000, 15'000}, 10 * (last + row)), 10 * row);
}

// The first of several messages in progress takes long, and the others are there when it is.
TEST(CopyTuner, ComparesWhatMessagesTakeTogether) {
  CopyTuner choice;
  for (int i = 0; i < 300; ++i) {
    const Copying way = choice.choose(idle);
    choice.note(idle, way, way == by_kernel ? 12'000 : i % 2 == 0 ? 30'000 : 2'000);  // 16'000
  }
  EXPECT_EQ(send(choice, idle, {16'000, 12'000}, 50), 50);
}

// Nor does it change its mind for those that another process on the core has made slow.
TEST(CopyTuner, IsNotMisledBySomeThatTookLonger) {
  CopyTuner choice;
  send(choice, idle, {10'000, 12'000}, 1'000);
  for (int i = 0; i < 8; ++i) choice.note(idle, staged, 40'000);
  EXPECT_EQ(choice.choose(idle), staged);
}

TEST(CopyTuner, IsNotMisledByOneThatTookVeryLong) {
  CopyTuner choice;
  send(choice, idle, {10'000, 20'000}, 100);
  choice.note(idle, staged, 100'000'000);
  EXPECT_EQ(choice.choose(idle), staged);
}

TEST(CopyTuner, DoesNotCountWhatOnlyTheFirstOnesPayFor) {
  CopyTuner choice;
  for (int i = 0; i < 2 * row; ++i) {
    const Copying way = choice.choose(idle);
    const bool early = i % row < static_cast<int>(CopyTuner::try_of(idle.bytes).uncounted);
    choice.note(idle, way, early ? (way == by_kernel ? 1'000'000 : 100) : (way == by_kernel ? 10'000 : 20'000));
  }
  EXPECT_EQ(choice.choose(idle), by_kernel);
}

// Several are under way, and end in another order.
TEST(CopyTuner, LearnsWhereWaysAlternate) {
  CopyTuner choice;
  for (int round = 0; round < 20; ++round) {
    choice.note(idle, staged, 20'000);
    choice.note(idle, by_kernel, 10'000);
  }
  EXPECT_EQ(choice.choose(idle), by_kernel);
}

TEST(CopyTuner, KeepsKindsApart) {
  CopyTuner choice;
  send(choice, idle, {10'000, 20'000}, 100);
  send(choice, busy, {20'000, 10'000}, 100);
  send(choice, longer, {90'000, 30'000}, 100);
  EXPECT_EQ(choice.choose(idle), staged);
  EXPECT_EQ(choice.choose(busy), by_kernel);
  EXPECT_EQ(choice.choose(longer), by_kernel);
}

// The other end follows in a try as in what has been found; but only for some messages after each that was received.
TEST(CopyTuner, WishesWhatItTakesItself) {
  CopyTuner choice;
  EXPECT_EQ(choice.wish(idle), Wish::none);
  for (int i = 0; i < 3 * row; ++i) {
    const Copying way = choice.choose(idle);
    choice.note(idle, way, way == staged ? 10'000 : 20'000);
    EXPECT_EQ(choice.wish(busy), Wish::none);
    EXPECT_EQ(choice.wish(idle), way == staged ? Wish::staged : Wish::by_kernel);
  }
  for (std::uint32_t left = CopyTuner::wishes - 1; left != 0; --left) EXPECT_EQ(choice.wish(idle), Wish::staged);
  EXPECT_EQ(choice.wish(idle), Wish::none);
  choice.choose(busy);
  EXPECT_EQ(choice.wish(longer), Wish::none);
  EXPECT_EQ(choice.wish(busy), Wish::staged);
}

TEST(CopyTuner, TakesAnyLength) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1} << 14, std::size_t{1} << 62, ~std::size_t{0}}) {
    CopyTuner choice;
    send(choice, {bytes, false}, {30'000, 10'000}, 20);
    EXPECT_EQ(choice.choose({bytes, false}), by_kernel) << bytes;
  }
}

}  // namespace
}  // namespace heddle::message
