// Members of a job (src/network/membership.hpp), and the targets of names (src/network/names.hpp): whatever comes, by seed, nothing is taken
// for a packet, an address or a name that was not given, and nothing is read beyond its end.
#include "network/membership.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "network/names.hpp"

namespace heddle::lln {
namespace {

constexpr int ranks = 8, first_local = 2, local_ranks = 3, vni = 5;
constexpr Secret secret{0x1234, 0x5678};

Membership of(int rank, const Secret& known = secret) { return {known, {rank, ranks, first_local, local_ranks}, vni}; }

PacketHead good_head(int sender) {
  return head_of({{MessageKind::eager, 1, 2, 3}, 4, 5}, of(sender).token_of(3), sender);
}

TEST(Membership, AdmitsWhatIsForItFromOtherNodes) {
  const Membership own = of(3);
  for (int sender = -1; sender <= ranks; ++sender) {
    const bool other_node = sender >= 0 && sender < ranks && (sender < 2 || sender > 4);
    EXPECT_TRUE(own.admits(good_head(sender)));
    EXPECT_EQ(own.is_well_formed(good_head(sender)), other_node) << sender;
    const PacketHead of_long = head_of_long(own.token_of(3), sender);
    EXPECT_EQ(own.makes_sense_of_long(of_long), other_node) << sender;
    EXPECT_FALSE(own.is_well_formed(of_long));
    const PacketHead disconnect = head_of_disconnect(7, own.token_of(3), sender, 0);
    EXPECT_EQ(own.is_valid_disconnect(disconnect), other_node) << sender;
    EXPECT_FALSE(own.is_well_formed(disconnect) || own.makes_sense_of_long(disconnect));
    EXPECT_FALSE(own.is_valid_disconnect(of_long));
  }
  EXPECT_FALSE(of(2).admits(good_head(0))) << "it is for rank 3";
  EXPECT_FALSE(of(3, {0x1234, 0x5679}).admits(good_head(0))) << "it is of another job";
  EXPECT_FALSE(Membership(secret, {3, ranks, first_local, local_ranks}, 6).admits(good_head(0))) << "it is for VNI 5";
}

TEST(Membership, TakesAnEnvelopeApartAsItWas) {
  const Envelope envelope{{MessageKind::rts, -7, 1 << 30, std::uint64_t{1} << 63}, 9, 10};
  const Envelope back = envelope_of(head_of(envelope, 1, 2));
  EXPECT_EQ(back.header.kind, envelope.header.kind);
  EXPECT_EQ(back.header.source, envelope.header.source);
  EXPECT_EQ(back.header.tag, envelope.header.tag);
  EXPECT_EQ(back.header.context, envelope.header.context);
  EXPECT_EQ(back.sequence, envelope.sequence);
  EXPECT_EQ(back.credit, envelope.credit);
}

// Noise, and heads that are almost right.
TEST(Membership, BelievesNoGarbage) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  const Membership own = of(3);
  for (int round = 0; round < 300'000; ++round) {
    PacketHead head = good_head(static_cast<int>(random() % 2));
    auto* const bytes = reinterpret_cast<unsigned char*>(&head);
    for (std::size_t i = 0, n = round % 2 == 0 ? sizeof head : 1 + random() % 4; i < n; ++i)
      bytes[n == sizeof head ? i : random() % sizeof head] = static_cast<unsigned char>(random());
    const bool known = head.token == good_head(0).token;
    ASSERT_EQ(own.admits(head), known);
    if (!own.is_well_formed(head)) continue;
    const auto kind = static_cast<int>(head.kind);
    ASSERT_TRUE(kind >= static_cast<int>(MessageKind::eager) && kind <= static_cast<int>(MessageKind::several));
    ASSERT_TRUE(head.sender == 0 || head.sender == 1 || (head.sender >= 5 && head.sender < ranks));
  }
}

TEST(Membership, OpensNoCardThatIsNotSealed) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200'000; ++round) {
    std::vector<std::byte> address(1 + random() % 40);
    for (std::byte& byte : address) byte = static_cast<std::byte>(random());
    const std::vector<std::byte> card = of(0).seal(address);
    const std::span<const std::byte> open = of(3).unseal(0, card);
    ASSERT_TRUE(std::equal(open.begin(), open.end(), address.begin(), address.end()));
    ASSERT_TRUE(of(3).unseal(1, card).empty()) << "it is another rank's";
    // Exactly so large: a byte beyond is the address sanitizer's.
    const std::size_t size = random() % 2 == 0 ? card.size() : random() % card.size();
    const auto bad = std::make_unique<std::byte[]>(size);
    std::memcpy(bad.get(), card.data(), size);
    if (size == card.size()) bad[random() % size] ^= static_cast<std::byte>(1 + random() % 255);
    ASSERT_TRUE(of(3).unseal(0, {bad.get(), size}).empty());
  }
}

struct Named {
  std::uint64_t name = 0;
  Named* next = nullptr;
  struct Links {
    static std::uint64_t& name(Named& one) { return one.name; }
    static Named*& next(Named& one) { return one.next; }
  };
};

// Against a table that cannot be wrong.
TEST(Names, LeadToWhatHasThemNowAndToNothingElse) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  Names<Named, Named::Links> names;
  std::vector<Named> all(700);
  std::unordered_map<std::uint64_t, Named*> now;
  std::uint64_t highest = 0;
  for (int round = 0; round < 300'000; ++round) {
    Named& one = all[random() % all.size()];
    if (one.name == 0) {
      names.announce(one);
      ASSERT_GT(one.name, highest) << "no name is given twice";
      highest = one.name;
      now[one.name] = &one;
    } else if (random() % 2 == 0) {
      now.erase(one.name);
      names.withdraw(one);
      ASSERT_EQ(one.name, 0U);
    }
    const std::uint64_t name = random() % 4 == 0 ? random() : random() % (highest + 2);
    const auto there = now.find(name);
    ASSERT_EQ(names.find(name), there == now.end() ? nullptr : there->second);
  }
  ASSERT_EQ(names.find(reinterpret_cast<std::uint64_t>(all.data())), nullptr) << "an address is no name";
  for (Named& one : all)
    if (one.name == 0) names.withdraw(one);  // does nothing
}

}  // namespace
}  // namespace heddle::lln
