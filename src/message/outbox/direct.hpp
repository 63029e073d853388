// Strategy "direct": a message is a packet.
#pragma once

#include "message/outbox/strategy.hpp"

namespace heddle::message {

class Direct final : public Strategy {
 public:
  bool collects() const override { return false; }
  std::uint32_t send(OutboxQueue& queue, Packets& packets, Drop drop) override {
    return queue.flush([&](const OutboxItem& item) { return packets.post(item, 1); }, drop);
  }
};

}  // namespace heddle::message
