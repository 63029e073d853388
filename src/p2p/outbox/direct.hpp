// Strategy "direct": a message is a packet.
#pragma once

#include "p2p/outbox/strategy.hpp"

namespace heddle::p2p {

class Direct final : public Strategy {
 public:
  std::uint32_t send(OutboxQueue& queue, Post post, Drop drop) override { return queue.flush(post, drop); }
};

}  // namespace heddle::p2p
