// Strategy "aggregate": a packet carries as many of the waiting messages as fit, control messages among them. While the network is busy,
// messages wait to share a packet.
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
    // The last pieces are short; send_pieces() has left them to share a packet.
    return send_pieces(packets, pieces_at_a_time) ? sent + together() : sent;
  }
};

}  // namespace heddle::message
