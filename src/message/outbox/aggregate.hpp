// Strategy "aggregate": a packet carries as many of the messages that wait as it has room for, answers among them, and messages are left
// to wait for others while the network is busy.
//
// Source: NewMadeleine's strategy of that name (Aumage, Brunet, Furmento, Namyst 2007).
#pragma once

#include "message/outbox/strategy.hpp"

namespace heddle::message {

class Aggregate final : public Strategy {
 public:
  bool collects() const override { return true; }
  std::uint32_t send(OutboxQueue& queue, Packets& packets, Drop drop) override {
    std::size_t left = 0;  // of the packet that has gone
    const auto goes = [&](const OutboxItem& item) {
      if (left == 0) {
        const std::size_t n = packets.fit(item);
        if (!packets.post(item, n)) return false;
        left = n;
      }
      --left;
      return true;
    };
    return queue.flush(goes, drop);
  }
};

}  // namespace heddle::message
