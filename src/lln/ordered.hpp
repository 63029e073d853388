// Puts the messages of a network that promises no order back into the order in which they were posted.
//
// Those that are matched, or name one that may be, have a number, counted by pair of ranks; what comes too early is kept until
// its turn. Answers and the data
// of long messages name what they belong to and need no order.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "lln/network.hpp"

namespace heddle::lln {

class Ordered {
 public:
  explicit Ordered(std::unique_ptr<Network> network) : network_(std::move(network)) {}

  Network& network() const { return *network_; }
  // Any thread, a hint.
  bool arrived() const { return network_->arrived(); }

  Posted post(int peer, const Header& header, std::size_t bytes, Network::Fill fill) {
    if (!has_order(header)) return network_->post(peer, {header, 0}, bytes, fill);
    Peer& there = peers_[peer];
    const Posted posted = network_->post(peer, {header, there.posted}, bytes, fill);
    if (posted == Posted::done) ++there.posted;
    return posted;
  }

  // As Network::poll, to sink(sender, header, payload, bytes).
  template <class Sink>
  int poll(int most, Sink&& sink) {
    int handed = 0;
    (void)network_->poll(most, [&](int sender, const Envelope& envelope, const std::byte* payload, std::size_t bytes) {
      if (!has_order(envelope.header)) {
        sink(sender, envelope.header, payload, bytes);
      } else {
        Peer& there = peers_[sender];
        if (envelope.sequence != there.taken) return keep(there, envelope, payload, bytes);
        sink(sender, envelope.header, payload, bytes);
        ++there.taken;
      }
      ++handed;
    });
    if (early_ != 0) handed += hand_over_early(sink);
    return handed;
  }

 private:
  struct Early {
    Header header;
    std::vector<std::byte> payload;
  };
  struct Peer {
    std::uint32_t posted = 0;
    std::uint32_t taken = 0;
    std::map<std::uint32_t, Early> early;  // by number
  };

  static bool has_order(const Header& header) {
    return header.kind <= MessageKind::rts || header.kind == MessageKind::retract;
  }

  void keep(Peer& there, const Envelope& envelope, const std::byte* payload, std::size_t bytes) {
    there.early.try_emplace(envelope.sequence, Early{envelope.header, {payload, payload + bytes}});
    ++early_;
  }
  // Those whose turn has come. One that finds no memory keeps its place.
  template <class Sink>
  int hand_over_early(Sink&& sink) {
    int handed = 0;
    for (auto& [sender, there] : peers_) {
      for (auto next = there.early.find(there.taken); next != there.early.end(); next = there.early.find(there.taken)) {
        sink(sender, next->second.header, next->second.payload.data(), next->second.payload.size());
        there.early.erase(next);
        --early_;
        ++there.taken;
        ++handed;
      }
    }
    return handed;
  }

  std::unique_ptr<Network> network_;
  std::unordered_map<int, Peer> peers_;  // those that were talked to
  std::size_t early_ = 0;
};

}  // namespace heddle::lln
