// The chunks that two sides claim of one message: together they are the message, each byte once, and each side has a run.
#include "messaging/message/protocol/local/split.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace heddle::message {
namespace {

constexpr std::size_t chunk = 4 * Split::unit;

TEST(Split, TheFrontComesFirstAndTheBackLast) {
  message::Split split{};
  const std::size_t bytes = 10 * Split::unit + 5;
  const Split::Chunk front = split.claim(bytes, chunk, true);
  const Split::Chunk back = split.claim(bytes, chunk, false);
  EXPECT_EQ(front.at, 0u);
  EXPECT_EQ(front.bytes, chunk);
  EXPECT_EQ(back.at, bytes - 5 - 3 * Split::unit);  // the last unit is the short one
  EXPECT_EQ(back.at + back.bytes, bytes);
  const Split::Chunk rest = split.claim(bytes, chunk, false);
  EXPECT_EQ(rest.at, front.bytes);
  EXPECT_EQ(rest.at + rest.bytes, back.at);
  EXPECT_EQ(split.claim(bytes, chunk, true).bytes, 0u);
  EXPECT_EQ(split.claim(bytes, chunk, false).bytes, 0u);
}

TEST(Split, OneSideAloneGetsEverything) {
  for (const bool from_front : {true, false}) {
    for (const std::size_t bytes : {std::size_t{1}, Split::unit - 1, Split::unit, Split::unit + 1, 3 * chunk + 17}) {
      message::Split split{};
      std::size_t sum = 0;
      while (const std::size_t n = split.claim(bytes, chunk, from_front).bytes) sum += n;
      EXPECT_EQ(sum, bytes);
    }
  }
}

TEST(Split, SidesAtTheSameTimeClaimEachByteOnce) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    const std::size_t bytes = 1 + random() % (200 * Split::unit);
    message::Split split{};
    std::vector<message::Split::Chunk> chunks[2];
    const auto side = [&](bool from_front) {
      for (;;) {
        const Split::Chunk c = split.claim(bytes, from_front ? chunk : 2 * Split::unit, from_front);
        if (c.bytes == 0) return;
        chunks[from_front].push_back(c);
      }
    };
    std::thread other(side, false);
    side(true);
    other.join();
    std::vector<char> taken(bytes);
    for (const auto& of_side : chunks)
      for (const Split::Chunk& c : of_side)
        for (std::size_t i = c.at; i < c.at + c.bytes; ++i) ++taken[i];
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(taken[i], 1) << "byte " << i << " of " << bytes;
    for (std::size_t i = 1; i < chunks[1].size(); ++i)
      ASSERT_EQ(chunks[1][i].at, chunks[1][i - 1].at + chunks[1][i - 1].bytes);
    for (std::size_t i = 1; i < chunks[0].size(); ++i)
      ASSERT_EQ(chunks[0][i].at + chunks[0][i].bytes, chunks[0][i - 1].at);
  }
}

}  // namespace
}  // namespace heddle::message
