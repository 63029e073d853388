// Long messages of every network that takes them (Network::post_long): they get from memory to memory, and both sides are told.
#include <gtest/gtest.h>
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "network/every_network.hpp"
#include "network/network.hpp"

namespace heddle::lln {
namespace {

TYPED_TEST_SUITE(EveryNetwork, AllNetworks);

// From memory to memory, also while other messages go the same way, and both sides are told.
TYPED_TEST(EveryNetwork, MoveLongMessagesFromMemoryToMemory) {
  Network& sender = *this->ends_[0];
  Network& receiver = *this->ends_[1];
  const std::size_t least = sender.traits().longs;
  if (least == 0) GTEST_SKIP() << "it has no such way";
  constexpr std::uint32_t messages = 50;
  for (const std::size_t bytes :
       {least, least + 1, 2 * least, std::size_t{96} << 10, (std::size_t{96} << 10) + 1, std::size_t{1} << 18,
        (std::size_t{1} << 18) + 1, std::size_t{1} << 20, (std::size_t{5} << 20) + 3}) {
    std::vector<std::byte> from(bytes);
    for (std::byte& byte : from) byte = static_cast<std::byte>(this->random_());
    std::vector<std::byte> to(bytes);
    Landing landing;
    landing.memory = to.data();
    landing.bytes = bytes;
    landing.peer = 0;
    receiver.landings().announce(landing);
    const std::uint64_t name = landing.name;
    const auto told = [](int other, int expected, const std::byte* payload, std::uint64_t of) {
      std::uint64_t value;
      std::memcpy(&value, payload, sizeof value);
      EXPECT_EQ(other, expected);
      EXPECT_EQ(value, of);
      return 1;
    };
    int left = 0;
    int landed = 0;
    bool begun = false;
    std::uint32_t posted = 0;
    std::uint32_t taken = 0;
    bool moved = false;
    while (left == 0 || landed == 0 || taken < messages) {
      if (!begun) begun = sender.post_long(1, name, from, 42) == Posted::done;
      if (posted < messages && this->post(sender, 0, 1, posted) == Posted::done) ++posted;
      (void)sender.poll(poll_batch, [&](int other, const Envelope& envelope, const std::byte* payload, std::size_t) {
        EXPECT_EQ(envelope.header.kind, MessageKind::left);
        left += told(other, 1, payload, 42);
        return true;
      });
      (void)receiver.poll(poll_batch,
                          [&](int other, const Envelope& envelope, const std::byte* payload, std::size_t n) {
                            if (envelope.header.kind == MessageKind::landed) {
                              landed += told(other, 0, payload, name);
                            } else {
                              this->expect_message(0, envelope.header, payload, n);
                              ++taken;
                            }
                            return true;
                          });
      moved |= receiver.is_moving();
    }
    EXPECT_EQ(from, to);
    EXPECT_FALSE(sender.any_under_way());
    // UCX moves it bit by bit in our polls, and does not say how much.
    if (std::is_same_v<TypeParam, OverComponent<ucx>> && bytes > std::size_t{4} << 20) {
      EXPECT_TRUE(moved);
    }
    EXPECT_FALSE(sender.is_moving());
    EXPECT_FALSE(receiver.is_moving());
    receiver.landings().withdraw(landing);
  }
}

// A thread that sleeps until it has left has armed the network before another thread posts it, and no thread polls or arms it
// meanwhile. Some leave within the post.
TYPED_TEST(EveryNetwork, WakeWhoSleepsUntilALongMessageHasLeft) {
  Network& sender = *this->ends_[0];
  Network& receiver = *this->ends_[1];
  const std::size_t least = sender.traits().longs;
  if (least == 0) GTEST_SKIP() << "it has no such way";
  this->connect(sender, receiver);
  const std::vector<std::byte> from(std::size_t{1} << 20);
  std::vector<std::byte> to(from.size());
  for (const std::size_t bytes : {least, 2 * least, from.size()})
    for (int round = 0; round < 20; ++round) {
      Landing landing;
      landing.memory = to.data();
      landing.bytes = bytes;
      landing.peer = 0;
      receiver.landings().announce(landing);
      EXPECT_TRUE(this->sleeps(sender));
      ASSERT_EQ(sender.post_long(1, landing.name, {from.data(), bytes}, 42), Posted::done);
      int left = 0;
      int landed = 0;
      for (int tries = 0; left == 0 || landed == 0; ++tries) {
        ASSERT_LT(tries, 10'000);
        landed += receiver.poll(poll_batch, this->any);
        pollfd readable{.fd = sender.wake_fd(), .events = POLLIN, .revents = 0};
        if (::poll(&readable, 1, 1) > 0) left += sender.poll(poll_batch, this->any);
      }
      receiver.landings().withdraw(landing);
    }
}

}  // namespace
}  // namespace heddle::lln
