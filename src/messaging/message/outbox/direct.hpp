// Strategy "direct": each message is a packet of its own.
#pragma once

#include "messaging/message/outbox/strategy.hpp"

namespace heddle::message {

class DirectStrategy final : public Strategy {
 public:
  bool collects() const override { return false; }
  std::uint32_t send(OutboxPeer& peer, Packets& packets, Drop drop) override {
    int packets_sent = 0;
    const auto alone = [&](const OutboxItem& item) {
      if (packets_sent == packets_at_a_time || !packets.post(item, 1)) return false;
      ++packets_sent;
      return true;
    };
    const std::uint32_t sent = peer.items.flush(alone, drop);
    return send_pieces(packets, pieces_at_a_time) ? sent + peer.items.flush(alone, drop) : sent;
  }
};

}  // namespace heddle::message
