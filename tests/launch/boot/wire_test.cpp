// The data exchanged while a job of another launcher starts and runs: PMI's messages, frames, rank 0's text, cards; and a
// fuzzer of them, by seed.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "launch/boot/card.hpp"
#include "launch/boot/launched/connection.hpp"
#include "launch/boot/launched/frame.hpp"
#include "launch/boot/launched/job_text.hpp"
#include "launch/boot/launched/sockets.hpp"
#include "launch/boot/pmi/message.hpp"
#include "launch/boot/pmi/process_mapping.hpp"
#include "network/keyed_hash.hpp"

namespace heddle::boot {
namespace {

TEST(PmiMessage, OfVersionOneIsALine) {
  EXPECT_EQ(PmiMessage("put").add("key", "a").add("value", "b=c").encode(PmiVersion::one), "cmd=put key=a value=b=c\n");
  std::string bytes = "cmd=get_result rc=0 msg=success value=b=c\ncmd=next";
  bool broken = true;
  const std::optional<PmiMessage> message = PmiMessage::take(bytes, PmiVersion::one, broken);
  ASSERT_TRUE(message && !broken);
  EXPECT_EQ(message->command(), "get_result");
  EXPECT_EQ(message->at("value"), "b=c");
  EXPECT_TRUE(message->succeeded());
  EXPECT_EQ(message->at("nothing"), "");
  EXPECT_FALSE(PmiMessage::take(bytes, PmiVersion::one, broken) || broken);
}

TEST(PmiMessage, OfVersionTwoHasALengthAndDoublesSemicolons) {
  std::string bytes = PmiMessage("kvs-put").add("key", "a").add("value", "b;c=d").encode(PmiVersion::two);
  EXPECT_EQ(bytes, "    31cmd=kvs-put;key=a;value=b;;c=d;");
  bytes += "     ";
  bool broken = true;
  const std::optional<PmiMessage> message = PmiMessage::take(bytes, PmiVersion::two, broken);
  ASSERT_TRUE(message && !broken);
  EXPECT_EQ(message->at("value"), "b;c=d");
  EXPECT_EQ(bytes, "     ");
}

TEST(PmiMessage, ThatMakesNoSenseIsBroken) {
  for (const char* const text : {"\n", "rc=0\n", " \n", "cmd\n"}) {
    std::string bytes = text;
    bool broken = false;
    (void)PmiMessage::take(bytes, PmiVersion::one, broken);
    EXPECT_TRUE(broken) << text;
  }
  for (const char* const text : {"abcdefcmd=x;", "    -5cmd=x;", "     0", "     4rc=0", "999999"}) {
    std::string bytes = text;
    bool broken = false;
    (void)PmiMessage::take(bytes, PmiVersion::two, broken);
    EXPECT_TRUE(broken) << text;
  }
  std::string endless(PmiMessage::longest + 1, 'x');
  bool broken = false;
  (void)PmiMessage::take(endless, PmiVersion::one, broken);
  EXPECT_TRUE(broken);
}

TEST(Frame, ComesAsItWasSent) {
  const Frame sent = Frame(FrameKind::card).add(-1).add(std::uint64_t{1} << 63 | 5).add("text");
  std::string bytes = sent.encode() + "more";
  bool broken = true;
  const std::optional<Frame> frame = Frame::take(bytes, Frame::longest, broken);
  ASSERT_TRUE(frame && !broken);
  Fields fields(*frame);
  EXPECT_EQ(fields.index(), -1);
  EXPECT_EQ(fields.long_number(), std::uint64_t{1} << 63 | 5);
  EXPECT_EQ(fields.rest(), "text");
  EXPECT_TRUE(fields.complete());
  EXPECT_EQ(fields.long_number(), 0u);
  EXPECT_FALSE(fields.complete());
  EXPECT_EQ(bytes, "more");
}

TEST(Frame, ThatIsTooLongIsBroken) {
  std::string bytes = Frame(FrameKind::proof).add(std::string(65, 'x')).encode();
  bool broken = false;
  EXPECT_FALSE(Frame::take(bytes, Frame::longest_unverified, broken));
  EXPECT_TRUE(broken);
}

TEST(JobText, ComesAsItWasPut) {
  const JobText put{.kind = own_kind(),
                    .host = own_host(),
                    .secret = {1, ~0ull},
                    .socket = "heddle-1",
                    .port = 77,
                    .addresses = {"10.0.0.1", "fe::1"}};
  const std::string text = put.encode();
  EXPECT_EQ(text.find_first_of(" ;=\n"), std::string::npos);  // what launchers would take for their own
  const std::optional<JobText> got = JobText::decode(text);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->kind, put.kind);
  EXPECT_EQ(got->secret, put.secret);
  EXPECT_EQ(got->port, 77);
  EXPECT_EQ(got->addresses, put.addresses);
  EXPECT_FALSE(JobText::decode(""));
  EXPECT_FALSE(JobText::decode("heddle2" + text.substr(7)));
}

TEST(JobText, IsNeverLongerThanALauncherCarries) {
  JobText many{.kind = own_kind(), .host = own_host(), .secret = {}, .socket = "x", .port = 1, .addresses = {}};
  for (int i = 0; i < 100; ++i)
    many.addresses.push_back("2001:db8:1234:5678:9abc:def0:1234:" + std::to_string(1000 + i));
  EXPECT_LE(many.encode().size(), 1000u);
  EXPECT_GE(JobText::decode(many.encode())->addresses.size(), 10u);
}

// From the paper: key and text are the bytes 0, 1, 2, ...
TEST(KeyedHash, IsThatOfThePaper) {
  const Secret secret{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string text;
  for (char c = 0; c < 15; ++c) text += c;
  EXPECT_EQ(lln::keyed_hash(secret, text), 0xa129ca6149be45e5u);
}

TEST(Card, KeepsEntries) {
  const auto card = std::make_unique<Card>();
  const std::byte address[3]{std::byte{1}, std::byte{2}, std::byte{3}};
  EXPECT_TRUE(find_entry(*card, 0).empty());
  EXPECT_TRUE(add_entry(*card, 5, address));
  EXPECT_TRUE(add_entry(*card, 0, {address, 1}));
  EXPECT_EQ(find_entry(*card, 5).size(), 3u);
  EXPECT_EQ(find_entry(*card, 0).size(), 1u);
  // A copy comes in pieces, in order.
  const auto copy = std::make_unique<Card>();
  const std::uint32_t used = card->used;
  EXPECT_FALSE(add_bytes(*copy, 8, {card->entries + 8, 8}));
  EXPECT_TRUE(add_bytes(*copy, 0, {card->entries, 16}));
  EXPECT_TRUE(add_bytes(*copy, 16, {card->entries + 16, used - 16}));
  EXPECT_EQ(find_entry(*copy, 5).size(), 3u);
  EXPECT_FALSE(add_bytes(*copy, used, {card->entries, sizeof card->entries}));
}

std::string random_bytes(std::mt19937& random, std::size_t longest) {
  std::string bytes(random() % longest, '\0');
  for (char& c : bytes) c = static_cast<char>(random() % 3 == 0 ? "=; \n0159cmd"[random() % 11] : random());
  return bytes;
}

// Nothing is read or written out of bounds (the address sanitizer would say so), and nothing goes on for ever.
TEST(Fuzz, WhateverComesIsReadOrRefused) {
  for (std::uint32_t seed = 0; seed < 200'000; ++seed) {
    std::mt19937 random(seed);
    const PmiVersion version = random() % 2 == 0 ? PmiVersion::one : PmiVersion::two;
    std::string bytes = random() % 2 == 0 ? random_bytes(random, 100)
                                          : PmiMessage("a").add("key", random_bytes(random, 40)).encode(version);
    if (!bytes.empty() && random() % 2 == 0) bytes[random() % bytes.size()] = static_cast<char>(random());
    bool broken = false;
    std::string rest = bytes;
    while (const std::optional<PmiMessage> message = PmiMessage::take(rest, version, broken)) {
      (void)message->number("rc");
      if (broken) break;
    }
    rest = bytes;
    while (const std::optional<Frame> frame = Frame::take(rest, Frame::longest, broken)) {
      Fields fields(*frame);
      (void)fields.long_number();
      (void)fields.index();
    }
    (void)JobText::decode(bytes);
  }
}

TEST(Fuzz, DamagedCardsAreReadWithinThem) {
  const auto card = std::make_unique<Card>();
  for (std::uint32_t seed = 0; seed < 2'000; ++seed) {
    std::mt19937 random(seed);
    card->used = 0;
    std::string bytes = random_bytes(random, 300);
    if (random() % 2 == 0) bytes.resize(sizeof card->entries, '\1');
    ASSERT_TRUE(add_bytes(*card, 0, std::as_bytes(std::span(bytes))));
    for (const int vni : {0, 1, -1}) {
      const std::span<const std::byte> entry = find_entry(*card, vni);
      if (!entry.empty()) {
        EXPECT_LE(entry.data() + entry.size(), card->entries + card->used);
      }
    }
  }
}

// ---- which ranks share a node

TEST(ProcessMapping, IsRepeatedUntilAllRanksHaveANode) {
  using Ranks = std::vector<int>;
  EXPECT_EQ(ranks_beside("(vector,(0,2,2))", 2, 4), (Ranks{2, 3}));
  EXPECT_EQ(ranks_beside("(vector,(0,2,1))", 1, 5), (Ranks{1, 3}));
  EXPECT_EQ(ranks_beside("(vector,(0,1,3),(1,2,1))", 0, 5), (Ranks{0, 1, 2}));
  EXPECT_EQ(ranks_beside("(vector,(0,1,3),(1,2,1))", 4, 5), (Ranks{4}));
}

TEST(ProcessMapping, OfAnotherFormIsNone) {
  for (const char* const text : {"", "64", "(vector)", "(vector,(0,2,2)", "(vector,(0,0,2))", "(vector,(0,2,-1))",
                                 "(vector,(0,2))", "(other,(0,1,1))"})
    EXPECT_TRUE(ranks_beside(text, 0, 2).empty()) << text;
}

}  // namespace
}  // namespace heddle::boot
