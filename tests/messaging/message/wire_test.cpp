// Messages from other nodes (src/messaging/message/wire.hpp): of random bytes, by seed, only those that a rank of the job would send are taken, and
// nothing is read beyond their end.
#include "messaging/message/wire.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <random>
#include <vector>

namespace heddle::message {
namespace {

using lln::Header;
using lln::MessageKind;

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

bool well_formed(MessageKind kind, const std::vector<std::byte>& bytes, int source = 0) {
  return is_well_formed(Header{kind, source, 0, 0}, 2, bytes.data(), bytes.size());
}
std::optional<RemoteCts> cts(const RemoteCts& sent) {
  const auto bytes = bytes_of(sent);
  return cts_of(bytes.data(), bytes.size());
}

TEST(Wire, TakesWhatRanksSay) {
  EXPECT_TRUE(well_formed(MessageKind::eager, {}));
  EXPECT_TRUE(well_formed(MessageKind::rts, bytes_of(RemoteRts{100'000, 7})));
  EXPECT_TRUE(well_formed(MessageKind::eager_ack, bytes_of(RemoteAck{7})));
  EXPECT_EQ(cts({7, 8, 9, Moving::pieces})->bytes, 9U);
  EXPECT_EQ(cts({7, 8, 9, Moving::direct})->stream, 8U);
}

TEST(Wire, RefusesWhatNoRankSays) {
  EXPECT_FALSE(well_formed(MessageKind::eager, {}, 2)) << "no such rank";
  EXPECT_FALSE(well_formed(MessageKind::eager, {}, -1));
  EXPECT_FALSE(well_formed(MessageKind::cts, bytes_of(RemoteRts{1, 7}))) << "not to be matched";
  EXPECT_FALSE(well_formed(MessageKind::rts, bytes_of(RemoteRts{100'000, 0}))) << "no name";
  EXPECT_FALSE(well_formed(MessageKind::rts, bytes_of(LocalRts{}))) << "that of a peer of the node";
  EXPECT_FALSE(well_formed(MessageKind::eager_ack, bytes_of(RemoteAck{0})));
  EXPECT_FALSE(well_formed(MessageKind::eager_ack, std::vector<std::byte>(sizeof(RemoteAck) - 1)));
  EXPECT_FALSE(cts({0, 8, 9, Moving::pieces})) << "no name";
  EXPECT_FALSE(cts({7, 8, 0, Moving::pieces})) << "nothing to move";
  EXPECT_FALSE(cts({7, 8, 9, Moving::not_at_all}));
  EXPECT_FALSE(cts({7, 8, 9, static_cast<Moving>(3)}));
}

// From noise, and from messages of which some bytes are others or are not there.
TEST(Wire, BelievesNoGarbage) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  const std::vector<std::byte> good[] = {bytes_of(RemoteRts{100'000, 7}), bytes_of(RemoteAck{7}),
                                         bytes_of(RemoteCts{7, 8, 9, Moving::pieces}), bytes_of(RemoteFin{7})};
  for (int round = 0; round < 300'000; ++round) {
    const std::vector<std::byte>& model = good[random() % 4];
    const std::size_t size = random() % 2 == 0 ? model.size() : random() % 64;
    const auto bytes = std::make_unique<std::byte[]>(size);  // a byte beyond is the address sanitizer's
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = i < model.size() && round % 4 != 0 ? model[i] : static_cast<std::byte>(random());
    for (std::size_t i = random() % 4; size != 0 && i != 0; --i)
      bytes[random() % size] = static_cast<std::byte>(random());
    const Header header{static_cast<MessageKind>(random() % 16), static_cast<int>(random() % 5) - 1,
                        static_cast<int>(random()), random()};
    if (is_well_formed(header, 2, bytes.get(), size)) {
      ASSERT_TRUE(header.source == 0 || header.source == 1);
      if (header.kind == MessageKind::rts) {
        ASSERT_EQ(size, sizeof(RemoteRts));
      } else if (header.kind == MessageKind::eager_ack) {
        ASSERT_GE(size, sizeof(RemoteAck));
      }
    }
    if (const std::optional<RemoteCts> said = cts_of(bytes.get(), size)) {
      ASSERT_EQ(size, sizeof(RemoteCts));
      ASSERT_NE(said->send, 0U);
      ASSERT_NE(said->bytes, 0U);
      ASSERT_TRUE(said->moving == Moving::pieces || said->moving == Moving::direct);
    }
  }
}

}  // namespace
}  // namespace heddle::message
