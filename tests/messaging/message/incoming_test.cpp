// Valid messages from another node (src/messaging/message/incoming.hpp): whatever comes, by seed, of it only what a rank of the job would say
// is taken, and nothing is read beyond its end.
#include "messaging/message/incoming.hpp"

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

Rts rts(std::uint64_t address, node::Offset claim, node::Offset stage) {
  return {100'000, 7, address, claim, {}, stage};
}

bool is_whole(MessageKind kind, const std::vector<std::byte>& bytes) {
  return message::is_whole(Header{kind, 0, 0, 0}, 2, bytes.data(), bytes.size());
}
std::optional<Answer> answer(MessageKind kind, const std::vector<std::byte>& bytes) {
  return answer_in(Header{kind, 1, 0, 0}, bytes.data(), bytes.size());
}

TEST(Incoming, TakesWhatRanksSay) {
  EXPECT_TRUE(is_whole(MessageKind::eager, {}));
  EXPECT_TRUE(is_whole(MessageKind::rts, bytes_of(rts(0, node::nowhere, node::nowhere))));
  EXPECT_TRUE(is_whole(MessageKind::eager_ack, bytes_of(Acknowledged{7, node::nowhere})));
  EXPECT_EQ(answer(MessageKind::fin, bytes_of(std::uint64_t{7}))->what, Answer::What::finished);
  EXPECT_EQ(answer(MessageKind::retracted, bytes_of(std::uint64_t{7}))->what, Answer::What::withdrawn);
  EXPECT_EQ(answer(MessageKind::cts, bytes_of(Cts{7, 8, 9, node::nowhere, Protocol::stream}))->cts.bytes, 9U);
}

TEST(Incoming, RefusesWhatOnlyAPeerOfTheNodeMaySay) {
  EXPECT_FALSE(is_whole(MessageKind::rts, bytes_of(rts(0x1000, node::nowhere, node::nowhere)))) << "an address of ours";
  EXPECT_FALSE(is_whole(MessageKind::rts, bytes_of(rts(0, 64, node::nowhere)))) << "a word of shared memory";
  EXPECT_FALSE(is_whole(MessageKind::rts, bytes_of(rts(0, node::nowhere, 64)))) << "a stage";
  EXPECT_FALSE(is_whole(MessageKind::eager_ack, bytes_of(Acknowledged{7, 64})));
  EXPECT_FALSE(answer(MessageKind::cts, bytes_of(Cts{7, 8, 9, 64, Protocol::split})));
  EXPECT_FALSE(answer(MessageKind::cts, bytes_of(Cts{7, 8, 9, 64, Protocol::staged})));
}

// From noise, and from messages of which some bytes are others or are not there.
TEST(Incoming, BelievesNoGarbage) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  const std::vector<std::byte> good[] = {
      bytes_of(rts(0, node::nowhere, node::nowhere)), bytes_of(Acknowledged{7, node::nowhere}),
      bytes_of(Cts{7, 8, 9, node::nowhere, Protocol::stream}), bytes_of(std::uint64_t{7})};
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
    if (message::is_whole(header, 2, bytes.get(), size)) {
      ASSERT_TRUE(header.source == 0 || header.source == 1);
      if (header.kind == MessageKind::rts) {
        ASSERT_EQ(size, sizeof(Rts));
      } else if (header.kind == MessageKind::eager_ack) {
        ASSERT_GE(size, sizeof(Acknowledged));
      }
    }
    if (const std::optional<Answer> said = answer_in(header, bytes.get(), size)) {
      ASSERT_NE(said->cts.request, 0U);
      if (said->what == Answer::What::wanted) {
        ASSERT_TRUE(said->cts.protocol == Protocol::stream || said->cts.protocol == Protocol::direct);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::message
