// Which network a rank takes: loopback between nodes that are pretended, a real one between real ones, the same for all ranks.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "network/networks.hpp"

namespace heddle::lln {
namespace {

class NoAddresses final : public Directory {
 public:
  std::span<const std::byte> find(int, int) const override { return {}; }
  bool publish(int, std::span<const std::byte>) override { return true; }
};

// Lives as long as the thread of a Watch does, which is as long as the process.
node::Doorbell& bell() {
  static auto& it = *new node::Doorbell{};
  return it;
}

// Why there is no network; empty: there is one. It is kept as long as the thread of its Watch lives, too.
std::string refusal(const std::string& name, bool pretended, std::function<std::uint64_t(std::uint64_t)> agree,
                    const std::string& rails = "", const threads::Opener& open = threads::open_for_process) {
  static NoAddresses no_addresses;
  static auto& kept = *new std::vector<std::unique_ptr<Networks>>;
  try {
    kept.push_back(std::make_unique<Networks>(no_addresses, bell(), Place{0, 2, 0, 1},
                                              Networks::Settings{.network = name,
                                                                 .rails = rails,
                                                                 .pretended = pretended,
                                                                 .agree = std::move(agree),
                                                                 .seed = 1,
                                                                 .open = open,
                                                                 .is_gone = {},
                                                                 .fail = {},
                                                                 .note = {},
                                                                 .secret = {},
                                                                 .bound = 0}));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Result<void*> cannot(const std::string&) { return refuse("not for you"); }

std::uint64_t same(std::uint64_t word) { return word; }
std::uint64_t other(std::uint64_t) { return 'o' | 'f' << 8 | 'i' << 16; }

TEST(Choice, LoopbackIsForPretendedNodes) {
  EXPECT_EQ(refusal("", true, same), "");
  EXPECT_EQ(refusal("loopback", true, same), "");
  const std::string said = refusal("loopback", false, same);
  EXPECT_TRUE(holds(said, "invalid value loopback for HEDDLE_LLN: these nodes are real")) << said;
  EXPECT_TRUE(holds(said, "ucx, ofi")) << said;
}

// This program lies in a folder without components.
TEST(Choice, NoNetworkIsSaidWithWhatEachLacks) {
  const std::string said = refusal("", false, same);
  EXPECT_TRUE(holds(said, "cannot load a network; ucx: ")) << said;
  EXPECT_TRUE(holds(said, "; ofi: ")) << said;
  EXPECT_TRUE(holds(said, "install libfabric-dev")) << said;
}

// For a rank that is a thread: it may have no copy of what all of them need.
TEST(Choice, WhatCannotBeOpenedIsSaid) {
  EXPECT_EQ(refusal(HEDDLE_TEST_UCX, false, same, "", cannot), "HEDDLE_LLN=" HEDDLE_TEST_UCX ": not for you");
}

TEST(Choice, RailsAreANumberOrDevices) {
  EXPECT_EQ(refusal("loopback", true, same, "3"), "");
  for (const char* const text : {"0", "5", "33", "eth0", "1,2"})
    EXPECT_TRUE(holds(refusal("loopback", true, same, text), "is not a number of rails from 1 to 4")) << text;
  if (const Result<const Component*> loaded = load_network(HEDDLE_TEST_UCX); !loaded)
    GTEST_SKIP() << loaded.failure().text;
  EXPECT_EQ(refusal(HEDDLE_TEST_UCX, false, same, "eth0,eth1"), "");
  for (const char* const text : {",", "eth0,", "a,b,c,d,e"})
    EXPECT_TRUE(holds(refusal(HEDDLE_TEST_UCX, false, same, text), "is not a list of 1 to 4 devices of ucx")) << text;
  const auto two = [](std::uint64_t word) { return (word & 0xffffffffffffff) | std::uint64_t{2} << 56; };
  EXPECT_TRUE(
      holds(refusal(HEDDLE_TEST_UCX, false, two), "this node has 1 rails, and another one 2; set HEDDLE_RAILS"));
}

TEST(Choice, AllRanksTakeTheSame) {
  if (const Result<const Component*> loaded = load_network(HEDDLE_TEST_UCX); !loaded)
    GTEST_SKIP() << loaded.failure().text;
  EXPECT_EQ(refusal(HEDDLE_TEST_UCX, false, same), "");
  const std::string said = refusal(HEDDLE_TEST_UCX, false, other);
  EXPECT_TRUE(holds(said, "this node uses ucx, and another one ofi; ")) << said;
  EXPECT_EQ(refusal(HEDDLE_TEST_UCX, true, other), "");  // one machine has one set of networks
}

}  // namespace
}  // namespace heddle::lln
