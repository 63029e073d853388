// A thread that sleeps on its rank's doorbell is woken by a descriptor that can be read, or when it asked to look again; and what is left to be
// sent is looked at again.
#include "network/watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

namespace heddle::lln {
namespace {

// Both live as long as the watch thread, which is as long as the process.
struct Watched {
  node::Doorbell bell{};
  Watch watch{bell};
};
Watched& watched() {
  static auto& it = *new Watched;
  return it;
}

// Sleeps on the bell until `holds`, as an engine does; how often it slept.
template <class F>
int sleep_until(int fd, std::int64_t after, F&& holds) {
  int slept = 0;
  while (!holds())
    slept += watched().bell.wait_once([&] { watched().watch.arm(fd, after); }, holds,
                                      [](std::uint32_t rings) { watched().bell.sleep(rings); });
  return slept;
}

TEST(Watch, WakesForADescriptor) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  for (int round = 0; round < 1000; ++round) {
    std::atomic<bool> written{false};
    std::thread writer([&] {
      if (round % 2 == 0) usleep(50);
      written.store(true);
      EXPECT_EQ(write(pipe[1], "x", 1), 1);
    });
    (void)sleep_until(pipe[0], 0, [&] { return written.load(); });
    writer.join();
    char byte;
    ASSERT_EQ(read(pipe[0], &byte, 1), 1);
  }
  close(pipe[0]);
  close(pipe[1]);
}

TEST(Watch, WakesAfterATime) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  int looks = 0;
  EXPECT_GT(sleep_until(pipe[0], 200'000, [&] { return ++looks > 20; }), 0);
  close(pipe[0]);
  close(pipe[1]);
}

// Threads of several VNIs ask for different times, in any order.
TEST(Watch, WakesAtTheEarliestTime) {
  constexpr std::int64_t soon = 1'000'000, at_no_time_of_this_test = 86'400'000'000'000;
  node::Doorbell& bell = watched().bell;
  for (const bool soon_first : {true, false, true}) {
    (void)bell.wait_once(
        [&] {
          watched().watch.arm_timer(soon_first ? soon : at_no_time_of_this_test);
          watched().watch.arm_timer(soon_first ? at_no_time_of_this_test : soon);
        },
        [] { return false; },
        [&](std::uint32_t rings) {
          while (bell.rings.load(std::memory_order_acquire) == rings) bell.sleep(rings);
        });
  }
}

// Looks at what is left to be sent: when they come, after what they have found.
TEST(Recall, ComesLateToAProgramThatSendsByItself) {
  Recall recall;
  EXPECT_EQ(recall.after(), Recall::soonest);
  EXPECT_EQ(recall.checked(Left::in_use), Recall::soonest) << "that may have been its last call for long";
  std::int64_t before = Recall::soonest;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t now = recall.checked(Left::in_use);
    EXPECT_EQ(now, std::min(2 * before, Recall::latest));
    before = now;
  }
  EXPECT_EQ(recall.checked(Left::nothing), 0);
  EXPECT_EQ(recall.after(), Recall::latest) << "what is left next time is looked at late, too";
}
TEST(Recall, ComesSoonToAProgramThatComputes) {
  Recall recall;
  for (int i = 0; i < 10; ++i) (void)recall.checked(Left::nothing);
  EXPECT_EQ(recall.after(), Recall::latest);
  EXPECT_EQ(recall.checked(Left::sent), Recall::soonest);
  for (int step = 0; step < 10; ++step) {  // a burst, and then it is away
    EXPECT_EQ(recall.after(), Recall::soonest);
    EXPECT_EQ(recall.checked(Left::in_use), Recall::soonest);
    EXPECT_EQ(recall.checked(Left::sent), Recall::soonest);
  }
}
TEST(Recall, ComesAgainUntilNothingIsLeft) {
  Recall recall;
  for (int i = 0; i < 100; ++i) EXPECT_GT(recall.checked(Left::refused), 0);
  EXPECT_EQ(recall.checked(Left::called), 0);
  EXPECT_EQ(recall.after(), Recall::soonest);
}
TEST(Recall, ComesAgainForAsLongAsOthersSendWhatWaited) {
  Recall recall;
  for (int i = 0; i < 10; ++i) EXPECT_GT(recall.checked(Left::gone), 0) << "the next one needs no request";
  EXPECT_EQ(recall.after(), Recall::latest);
  EXPECT_EQ(recall.checked(Left::nothing), 0);
}
TEST(Recall, SendsAtLastThoughOthersAreInUse) {
  Recall recall;
  int looks = 0;
  while (!recall.sends_anyway()) {
    EXPECT_GT(recall.checked(Left::in_use), 0);
    ASSERT_LE(++looks, 10);
  }
  (void)recall.checked(Left::sent);
  EXPECT_FALSE(recall.sends_anyway());
}

// Deferred work is checked until it has gone, and then no more.
struct Sender final : Watch::Attendant {
  std::atomic<int> left{0};
  std::atomic<int> looks{0};

  Left send_left(bool) override {
    ++looks;
    if (left.load() == 0) return Left::nothing;
    return left.fetch_sub(1) == 1 ? Left::sent : Left::refused;
  }
  bool poll_around() override { return false; }
};

TEST(Watch, AsksUntilNothingIsLeftToBeSent) {
  static auto& sender = *new Sender;
  watched().watch.attend(sender);
  for (int round = 1; round <= 20; ++round) {
    const int looks = sender.looks.load();
    sender.left.store(3);
    watched().watch.schedule_sending();
    while (sender.left.load() != 0) usleep(100);
    while (sender.looks.load() < looks + 4) usleep(100);  // the last one finds nothing
    usleep(2 * Recall::latest / 1000);
    EXPECT_EQ(sender.looks.load(), looks + 4) << "round " << round;
  }
}

}  // namespace
}  // namespace heddle::lln
