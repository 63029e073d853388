// What decides which packet goes next: the optimizing layer between messages that wait and the network that moves them.
//
// Source: NewMadeleine (Aumage, Brunet, Furmento, Namyst 2007): messages are collected by peer, and it is the network that asks for
// the next packet, when it can take one. What can be sent at once never waits, and meets no strategy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lln/function_ref.hpp"
#include "message/outbox/item.hpp"

namespace heddle::message {

class Strategy {
 public:
  // Sends one message that waits, and says whether that is off the list: sent, or failed for good. False: the network takes no more now.
  using Post = lln::FunctionRef<bool(const OutboxItem&)>;
  // A message has gone: gives its place back.
  using Drop = lln::FunctionRef<void(OutboxItem&)>;

  virtual ~Strategy() = default;

  // The network may take more for the peer whose messages wait here: posts from the front on, in the order of MPI, and drops what has
  // left; how many. Under the VNI's protection.
  virtual std::uint32_t send(OutboxQueue& queue, Post post, Drop drop) = 0;
};

// Those that there are: strategies.cpp. The first is the default.
bool is_strategy(std::string_view name);
std::string strategy_names();
// One of them.
std::unique_ptr<Strategy> make_strategy(std::string_view name);

}  // namespace heddle::message
