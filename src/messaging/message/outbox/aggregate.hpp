// Strategy "aggregate": a packet carries as many of the messages that wait as it has room for, answers among them, and messages are left
// to wait for others while the network is busy.
//
// Source: NewMadeleine's strategy of that name (Aumage, Brunet, Furmento, Namyst 2007).
#pragma once

#include "messaging/message/outbox/strategy.hpp"

namespace heddle::message {

class AggregateStrategy : public Strategy {
 public:
  bool collects() const override { return true; }
  std::uint32_t send(OutboxPeer& peer, Packets& packets, Drop drop) override {
    const auto together = [&] { return send_together(peer.items, packets, drop, [](std::size_t) {}); };
    const std::uint32_t sent = together();
    // The last pieces are short, and have been left to go together.
    return send_pieces(packets, pieces_at_a_time) ? sent + together() : sent;
  }
};

}  // namespace heddle::message
