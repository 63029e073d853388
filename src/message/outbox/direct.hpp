// Strategy "direct": a message is a packet.
#pragma once

#include "message/outbox/strategy.hpp"

namespace heddle::message {

class Direct final : public Strategy {
 public:
  std::uint32_t send(OutboxQueue& queue, Post post, Drop drop) override { return queue.flush(post, drop); }
};

}  // namespace heddle::message
