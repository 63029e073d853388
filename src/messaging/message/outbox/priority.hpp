// Strategy "priority": short messages and control messages leave before long ones, as far as MPI's order allows.
//
// The strategy reorders the entries of a peer. A short message passes messages of 2 KiB and more, unless one receive could match both.
// Announced long messages leave in pieces, after all short messages. Few pieces are in flight at a time, so that a short message finds
// little ahead of it in the network's queues. A message is passed a bounded number of times. In all else the strategy is "aggregate".
//
// Source: NewMadeleine reorders packets by priority (Aumage, Brunet, Furmento, Namyst 2007); this algorithm is ours.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "messaging/message/outbox/strategy.hpp"
#include "objects/object/comm.hpp"

namespace heddle::message {

class PriorityStrategy final : public Strategy {
 public:
  static constexpr std::size_t long_from = 2048;    // bytes
  static constexpr int most_pieces = 8;             // in flight
  static constexpr std::uint8_t most_passing = 64;  // messages that pass one long message
  static constexpr std::uint8_t most_before = 32;   // packets that leave before a piece that could leave

  bool collects() const override { return true; }
  // If pieces keep the network busy, short messages do not wait for it.
  bool holds(OutboxPeer& peer) override { return peer.longs.empty(); }
  int pieces_ahead() const override { return most_pieces; }

  std::uint32_t send(OutboxPeer& peer, Packets& packets, Drop drop) override {
    if (before(peer) >= most_before) send_longs(peer, packets, 1);
    const auto together = [&] {
      arrange(peer.items, packets);
      return send_together(peer.items, packets, drop, [&](std::size_t) {
        if (!peer.longs.empty()) before(peer) = std::min<std::uint8_t>(before(peer) + 1, most_before);
      });
    };
    const std::uint32_t sent = together();
    if (!peer.items.empty()) return sent;  // the network takes no more now, or this was enough for one poll
    return send_longs(peer, packets, most_pieces / 2) ? sent + together() : sent;
  }

 private:
  static constexpr std::size_t looked_at = 64;   // entries that are considered
  static constexpr std::size_t most_longs = 16;  // among them

  static std::uint8_t& before(OutboxPeer& peer) { return peer.memory[0]; }

  static bool send_longs(OutboxPeer& peer, Packets& packets, int most) {
    if (!send_pieces(packets, most)) return false;
    before(peer) = 0;
    return true;
  }

  static bool is_long(const OutboxItem& item, const Packets& packets) { return packets.bytes(item) >= long_from; }
  // True if one receive could match either message: then the older one leaves first.
  static bool are_ordered(const OutboxItem& a, const OutboxItem& b) {
    if (a.request == nullptr || b.request == nullptr || a.request->context != b.request->context) return false;
    return a.request->tag == b.request->tag || (a.request->context & promise_no_any_tag) == 0;
  }

  static void arrange(OutboxQueue& items, const Packets& packets) {
    OutboxItem* const front = items.front();
    if (front == nullptr || front->overtaken == most_passing || !is_long(*front, packets)) return;
    std::array<const OutboxItem*, most_longs> longs{};
    std::size_t n = 0;
    items.bring_forward(looked_at, [&](const OutboxItem& item) {
      if (n == longs.size() || front->overtaken == most_passing) return false;
      if (is_long(item, packets)) {
        longs[n++] = &item;
        return false;
      }
      const std::span passed(longs.data(), n);
      if (std::ranges::any_of(passed, [&](const OutboxItem* one) { return are_ordered(*one, item); })) return false;
      ++front->overtaken;
      return true;
    });
  }
};

}  // namespace heddle::message
