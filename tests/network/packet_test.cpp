// Packets of several messages (src/network/packet.hpp): what goes in comes out, once and in order, though the receiver has no memory now and
// then; a packet never holds more than it may; and what is none is read within its bounds.
#include "network/packet.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <new>
#include <random>
#include <vector>

namespace heddle::lln {
namespace {

constexpr std::size_t most = 8192;

std::byte byte_of(std::size_t message, std::size_t at) { return static_cast<std::byte>(message * 31 + at); }

Header header_of(std::size_t message, MessageKind kind = MessageKind::eager) {
  return {kind, static_cast<int>(message), static_cast<int>(message * 7), message << 40};
}

// Exactly so large: a byte beyond is the address sanitizer's.
std::vector<std::byte> bytes_of(const Packet& packet) {
  std::vector<std::byte> bytes(packet.bytes());
  packet.write(bytes.data(), [&](std::size_t i, std::byte* to) {
    for (std::size_t at = 0; at < packet[i].bytes; ++at) to[at] = byte_of(i, at);
  });
  return bytes;
}

TEST(Packet, HoldsWhatWasAdded) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    Packet packet;
    packet.begin(most, Credits());
    std::vector<std::size_t> sizes;
    for (std::size_t bytes = random() % 200;
         packet.add(header_of(sizes.size(), MessageKind::fin), bytes) == Packet::Added::yes; bytes = random() % 200)
      sizes.push_back(bytes);
    ASSERT_GT(sizes.size(), 30U);
    ASSERT_LE(packet.bytes(), most);
    const std::vector<std::byte> bytes = bytes_of(packet);
    // The receiver runs out of memory again and again.
    std::uint32_t taken = 0;
    std::size_t next = 0;
    for (bool over = false; !over;) {
      try {
        const bool whole = Packet::read(bytes.data(), bytes.size(), taken,
                                        [&](const Header& header, const std::byte* data, std::size_t n) {
                                          if (random() % 5 == 0) throw std::bad_alloc();
                                          ASSERT_LT(next, sizes.size());
                                          EXPECT_EQ(header.source, static_cast<int>(next));
                                          EXPECT_EQ(header.context, next << 40);
                                          ASSERT_EQ(n, sizes[next]);
                                          for (std::size_t at = 0; at < n; ++at) ASSERT_EQ(data[at], byte_of(next, at));
                                          ++next;
                                        });
        EXPECT_TRUE(whole);
        over = true;
      } catch (const std::bad_alloc&) {
        ASSERT_EQ(taken, next);
      }
    }
    EXPECT_EQ(next, sizes.size());
    EXPECT_EQ(taken, sizes.size());
  }
}

TEST(Packet, ConsumesTheCreditOfEach) {
  Credits credits;
  Packet packet;
  packet.begin(1 << 20, credits);
  std::size_t added = 0;
  while (added < Packet::most_parts && packet.add(header_of(added), 1000) == Packet::Added::yes) ++added;
  EXPECT_EQ(added, Credits::window / Credits::cost(1000));
  EXPECT_EQ(packet.add(header_of(0), 1000), Packet::Added::full) << "it waits for credit, which comes";
  EXPECT_EQ(packet.add(header_of(0, MessageKind::rts), 40), Packet::Added::yes) << "which asks for none";
  EXPECT_EQ(packet.credits().consumed(), added * Credits::cost(1000));
  EXPECT_EQ(credits.consumed(), 0U) << "before it is posted";
  credits.replace_consumed(packet.credits());
  EXPECT_EQ(credits.consumed(), added * Credits::cost(1000));
}

TEST(Packet, TakesOneMessageAsLongAsAPacket) {
  Packet packet;
  packet.begin(most, Credits());
  EXPECT_EQ(packet.add(header_of(0), most), Packet::Added::yes);
  EXPECT_EQ(packet.add(header_of(1), 0), Packet::Added::full);
  EXPECT_EQ(packet.size(), 1U);
}

TEST(Packet, IsReadWithinItsBoundsWhateverItHolds) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200'000; ++round) {
    Packet packet;
    packet.begin(most, Credits());
    const std::size_t messages = 1 + random() % 8;
    for (std::size_t i = 0; i < messages; ++i) (void)packet.add(header_of(i), random() % 64);
    const std::vector<std::byte> good = bytes_of(packet);
    const std::size_t size = random() % (good.size() + 1);
    const auto bad = std::make_unique<std::byte[]>(size);
    std::copy_n(good.data(), size, bad.get());
    for (std::size_t i = 0; size != 0 && i < random() % 16; ++i)
      bad[random() % size] = static_cast<std::byte>(random());
    std::uint32_t taken = 0;
    std::size_t end = 0;
    const bool whole = Packet::read(bad.get(), size, taken, [&](const Header&, const std::byte* data, std::size_t n) {
      ASSERT_GE(data, bad.get());
      ASSERT_LE(n, static_cast<std::size_t>(bad.get() + size - data));
      end = static_cast<std::size_t>(data + n - bad.get());
    });
    ASSERT_LE(taken, size / sizeof(PartHead));
    if (whole) {
      ASSERT_LT(size - end, 8U) << "nothing is left over";
    }
  }
}

}  // namespace
}  // namespace heddle::lln
