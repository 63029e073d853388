// Strategy "auto": "aggregate" while the network is slower than the program's sends, "direct" while it keeps up.
//
// The strategy learns from messages that waited while the network was busy. A packet that then leaves with one message only has waited in
// vain. After a few such packets in a row, messages leave at once. Now and then a message waits on trial; if it shares its packet,
// messages wait again.
//
// Source: ours; the outbox between the two is NewMadeleine's (Aumage, Brunet, Furmento, Namyst 2007).
#pragma once

#include "messaging/message/outbox/strategy.hpp"

namespace heddle::message {

class AutoStrategy final : public Strategy {
 public:
  bool collects() const override { return true; }
  bool holds(OutboxPeer& peer) override {
    if (alone(peer) < in_vain || passed(peer) == passed_before_trial) return true;
    ++passed(peer);
    return false;
  }
  std::uint32_t send(OutboxPeer& peer, Packets& packets, Drop drop) override {
    const auto together = [&] {
      return send_together(peer.items, packets, drop, [&](std::size_t n) { note(peer, n); });
    };
    const std::uint32_t sent = together();
    return send_pieces(packets, pieces_at_a_time) ? sent + together() : sent;
  }

 private:
  static constexpr std::uint8_t in_vain = 4;               // packets of one message each, in a row
  static constexpr std::uint8_t passed_before_trial = 32;  // messages that left at once although the network was busy

  static std::uint8_t& alone(OutboxPeer& peer) { return peer.memory[0]; }
  static std::uint8_t& passed(OutboxPeer& peer) { return peer.memory[1]; }
  static void note(OutboxPeer& peer, std::size_t together) {
    passed(peer) = 0;
    if (together > 1) {
      alone(peer) = 0;
    } else if (alone(peer) < in_vain) {
      ++alone(peer);
    }
  }
};

}  // namespace heddle::message
