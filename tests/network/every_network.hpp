// Three ends of one network, of ranks that live in this process and are each on a node of its own, and the messages that they send each other.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <algorithm>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "network/loopback/loopback.hpp"
#include "network/networks.hpp"
#include "network/rails/rails.hpp"
#include "network/remote.hpp"

namespace heddle::lln {

inline constexpr int ranks = 3;
inline constexpr Secret secret{1, 2};  // of the job

// The directory of ranks that live in this process.
class Table {
 public:
  class Of final : public Directory {
   public:
    Of(Table& table, int rank) : table_(table), rank_(rank) {}
    std::span<const std::byte> find(int peer, int vni) const override {
      const auto entry = table_.entries_.find({peer, vni});
      return entry == table_.entries_.end() ? std::span<const std::byte>() : std::span<const std::byte>(entry->second);
    }
    bool publish(int vni, std::span<const std::byte> address) override {
      return table_.entries_.try_emplace({rank_, vni}, address.begin(), address.end()).second;
    }

   private:
    Table& table_;
    int rank_;
  };

  Of of(int rank) { return {*this, rank}; }

 private:
  std::map<std::pair<int, int>, std::vector<std::byte>> entries_;
};

// Null: it is not there, and why.
struct OverLoopback {
  static Networks::End open(const Surroundings& at, std::uint64_t seed, std::string&) {
    return Networks::End(new Loopback(at, seed));
  }
};
// Three of them.
struct OverRails {
  static Networks::End open(const Surroundings& at, std::uint64_t seed, std::string&) {
    std::vector<Networks::End> rails;
    Surroundings rail = at;
    for (int i = 0; i < 3; ++i, rail.vni += most_vnis) rails.emplace_back(new Loopback(rail, seed + i));
    return Networks::End(new Rails(std::move(rails)));
  }
};
template <const char* path>
struct OverComponent {
  static Networks::End open(const Surroundings& at, std::uint64_t, std::string& why) {
    static const Result<const Component*> component = load_network(path);
    if (!component) {
      why = component.failure().text;
      return nullptr;
    }
    Why said{};
    Network* const end = (*component)->open(at, said);
    why = said.text;
    return Networks::End(end, {*component});
  }
};

inline constexpr char ucx[] = HEDDLE_TEST_UCX;
inline constexpr char ofi[] = HEDDLE_TEST_OFI;
using AllNetworks = testing::Types<OverLoopback, OverRails, OverComponent<ucx>, OverComponent<ofi>>;

template <class Which>
class EveryNetwork : public testing::Test {
 protected:
  EveryNetwork() : seed_(std::random_device()()), random_(static_cast<std::mt19937::result_type>(seed_)) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
    for (int rank = 0; rank < ranks; ++rank) {
      directories_.push_back(std::make_unique<Table::Of>(table_.of(rank)));
      ends_.push_back(open(*directories_.back(), rank));
    }
  }
  void SetUp() override {
    if (!ends_[0]) GTEST_SKIP() << why_;
    eager_ = ends_[0]->traits().eager;
  }
  Networks::End open(Directory& directory, int rank) { return open(directory, rank, secret); }
  Networks::End open(Directory& directory, int rank, const Secret& known) {
    return Which::open({directory, place_of(rank), known, 0, fail_, lost_, note_, "", false}, seed_, why_);
  }
  // Each is on a node of its own.
  static Place place_of(int rank) { return {rank, ranks, rank, 1}; }

  // The bytes of message `number` from `from`.
  static std::byte byte_of(int from, std::uint32_t number, std::size_t at) {
    return static_cast<std::byte>(from * 89 + number * 31 + at);
  }
  // Each 64th may be as long as the network takes, the others have 8 KiB at most: their bytes are looked at one by one.
  std::size_t size_of(std::uint32_t number) const {
    return number * 97 % (number % 64 == 0 ? eager_ + 1 : std::min<std::size_t>(eager_, 8192) + 1);
  }
  Posted post(Network& network, int from, int to, std::uint32_t number) {
    const std::size_t bytes = size_of(number);
    const auto fill = [&](std::byte* at) {
      for (std::size_t i = 0; i < bytes; ++i) at[i] = byte_of(from, number, i);
    };
    return network.post(to, {{MessageKind::eager, from, static_cast<int>(number), 7}, number, 0}, bytes, fill);
  }
  void expect_message(int from, const Header& header, const std::byte* payload, std::size_t bytes) const {
    const auto number = static_cast<std::uint32_t>(header.tag);
    EXPECT_EQ(header.kind, MessageKind::eager);
    EXPECT_EQ(header.source, from);
    EXPECT_EQ(header.context, 7U);
    ASSERT_EQ(bytes, size_of(number));
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(payload[i], byte_of(from, number, i)) << number << " at " << i;
  }
  // True if a thread that went to sleep at this end would not do so, or be woken within so long.
  static bool wakes(Network& network, int milliseconds) {
    if (!network.arm()) return true;
    pollfd readable{.fd = network.wake_fd(), .events = POLLIN, .revents = 0};
    return ::poll(&readable, 1, milliseconds) > 0;
  }
  // True if it can sleep at last: a network may have things of its own to do first.
  static bool sleeps(Network& network) {
    for (int i = 0; i < 1000; ++i) {
      if (!wakes(network, 5)) return true;
      (void)network.poll(poll_batch, none);
    }
    return false;
  }
  // The first message from rank 0 to rank 1: a network may be busy until it has come.
  void connect(Network& sender, Network& receiver) {
    while (post(sender, 0, 1, 0) != Posted::done) {
    }
    while (receiver.poll(poll_batch, any) == 0) (void)sender.poll(poll_batch, none);
  }
  static constexpr auto none = [](int, const Envelope& envelope, const std::byte*, std::size_t) {
    ADD_FAILURE() << "a message of kind " << static_cast<int>(envelope.header.kind);
    return true;
  };
  static constexpr auto any = [](int, const Envelope&, const std::byte*, std::size_t) { return true; };

  std::uint64_t seed_;
  std::size_t eager_;
  std::mt19937 random_;
  Table table_;
  std::vector<std::unique_ptr<Table::Of>> directories_;
  std::string why_;
  int failures_ = 0;
  int notes_ = 0;
  std::string failure_;  // the last one
  std::function<void(const char*)> fail_ = [this](const char* text) {
    ++failures_;
    failure_ = text;
  };
  std::function<void(int, const char*)> lost_ = [this](int, const char* text) { fail_(text); };
  std::function<void(const char*)> note_ = [this](const char*) { ++notes_; };
  std::vector<Networks::End> ends_;
};

inline constexpr std::uint64_t no_bound = std::uint64_t{1} << 40;

// Credit is not told.
template <class Sink>
int poll(Remote& remote, Sink&& sink) {
  bool any = false;
  const auto messages = [&](int sender, const Header& header, const std::byte* payload, std::size_t bytes) {
    if (header.kind != MessageKind::credit) sink(sender, header, payload, bytes);
  };
  return remote.poll(poll_batch, messages, any);
}

inline void unexpected(int, const Header& header, const std::byte*, std::size_t) {
  ADD_FAILURE() << "a message of kind " << static_cast<int>(header.kind);
}

}  // namespace heddle::lln
