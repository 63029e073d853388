// What decides which packet goes next: the optimizing layer between messages that wait and the network that moves them.
//
// Source: NewMadeleine (Aumage, Brunet, Furmento, Namyst 2007): messages are collected by peer, and it is the network that asks for
// the next packet, when it can take one. What can be sent at once never waits, and meets no strategy.
//
// A strategy is a class in a file of its own. It has no state but the two bytes for each peer (OutboxPeer::memory), and knows neither
// networks nor protocols: it chooses among what waits, and Packets says what becomes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "messaging/message/outbox/item.hpp"
#include "network/function_ref.hpp"

namespace heddle::message {

// What takes packets to one peer. Messages are told by the first and how many they are, in the order of the list.
class Packets {
 public:
  // How many bytes of payload this one brings.
  virtual std::size_t bytes(const OutboxItem& item) const = 0;
  // How many the next packet has room for, from this one on: at least one.
  virtual std::size_t fit(const OutboxItem& first) = 0;
  // Sends so many in one packet, and says whether they are off the list: sent, or failed for good. False: the network takes no more now.
  virtual bool post(const OutboxItem& first, std::size_t n) = 0;
  // Sends the next part of the oldest long message. False: there is none, the network takes no more now, or as much is on its way as may be
  // (Strategy::pieces_ahead).
  virtual bool post_piece() = 0;

 protected:
  ~Packets() = default;
};

class Strategy {
 public:
  // A message has gone: gives its place back.
  using Drop = lln::FunctionRef<void(OutboxItem&)>;

  virtual ~Strategy() = default;

  // Whether sends whose callers go on to something else may wait for others while the network is busy with what was sent before; and
  // whether one to this peer does now that it is.
  virtual bool collects() const = 0;
  virtual bool holds(OutboxPeer&) { return collects(); }
  // How many pieces of a long message may be on their way over each rail that have not been heard to have come. 0: any number, and the
  // message goes as a whole where the network can do that. Where they are counted they have so many bytes at most, as has what goes eagerly.
  virtual int pieces_ahead() const { return 0; }
  static constexpr std::size_t counted_piece = 8192;
  // The network may take more for the peer whose messages wait here: posts from the front on, in the order of MPI, and drops what has
  // left; how many. Long messages get their turn too. Under the VNI's protection.
  virtual std::uint32_t send(OutboxPeer& peer, Packets& packets, Drop drop) = 0;

 protected:
  // Of one peer, so that none starves the others.
  static constexpr int pieces_at_a_time = 16;
  // Whether any went.
  static bool send_pieces(Packets& packets, int most) {
    int sent = 0;
    while (sent < most && packets.post_piece()) ++sent;
    return sent != 0;
  }
  // Messages go together, as many as a packet has room for; sent(n) after each packet of n. How many went.
  template <class Sent>
  static std::uint32_t send_together(OutboxQueue& queue, Packets& packets, Drop drop, Sent&& sent) {
    std::size_t left = 0;  // of the packet that has gone
    const auto goes = [&](const OutboxItem& item) {
      if (left == 0) {
        const std::size_t n = packets.fit(item);
        if (!packets.post(item, n)) return false;
        sent(n);
        left = n;
      }
      --left;
      return true;
    };
    return queue.flush(goes, drop);
  }
};

// Those that there are: strategies.cpp.
inline constexpr std::string_view default_strategy = "aggregate";
bool is_strategy(std::string_view name);
// Why this is none: those that there are, and the one that may have been meant.
std::string no_strategy(std::string_view name);
// One of them.
std::unique_ptr<Strategy> make_strategy(std::string_view name);
// They have numbers from 0 on, the same in all ranks of a job.
int strategy_number(std::string_view name);
std::string_view strategy_name(int number);

}  // namespace heddle::message
