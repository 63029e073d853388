// What decides which packet goes next: the optimizing layer between messages that wait and the network that moves them.
//
// Source: NewMadeleine (Aumage, Brunet, Furmento, Namyst 2007): messages are collected by peer, and it is the network that asks for
// the next packet, when it can take one. What can be sent at once never waits, and meets no strategy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lln/function_ref.hpp"
#include "message/outbox/item.hpp"

namespace heddle::message {

// What takes packets to one peer. Messages are told by the first and how many they are, in the order of the list.
class Packets {
 public:
  // How many the next packet has room for, from this one on: at least one.
  virtual std::size_t fit(const OutboxItem& first) = 0;
  // Sends so many in one packet, and says whether they are off the list: sent, or failed for good. False: the network takes no more now.
  virtual bool post(const OutboxItem& first, std::size_t n) = 0;

 protected:
  ~Packets() = default;
};

class Strategy {
 public:
  // A message has gone: gives its place back.
  using Drop = lln::FunctionRef<void(OutboxItem&)>;

  virtual ~Strategy() = default;

  // Whether a send whose caller goes on to something else waits for others while the network is busy with what was sent before.
  virtual bool collects() const = 0;
  // The network may take more for the peer whose messages wait here: posts from the front on, in the order of MPI, and drops what has
  // left; how many. Under the VNI's protection.
  virtual std::uint32_t send(OutboxQueue& queue, Packets& packets, Drop drop) = 0;
};

// Those that there are: strategies.cpp.
bool is_strategy(std::string_view name);
std::string strategy_names();
// One of them.
std::unique_ptr<Strategy> make_strategy(std::string_view name);

}  // namespace heddle::message
