// Strategies choose the next packet: the optimizing layer between waiting messages and the network that sends them.
//
// Source: NewMadeleine (Aumage, Brunet, Furmento, Namyst 2007): messages are collected by peer, and the network requests the next packet
// when it can take one. A message that can be sent at once does not wait, and no strategy sees it.
//
// A strategy is a class in a file of its own. Its only state is two bytes for each peer (OutboxPeer::memory), and it knows neither
// networks nor protocols. It chooses among the entries; Packets sends them and reports the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "messaging/message/outbox/item.hpp"
#include "network/function_ref.hpp"

namespace heddle::message {

// Sends packets to one peer. A function gets several messages as the first one and their number, in the order of the queue.
class Packets {
 public:
  // The payload of this message in bytes.
  virtual std::size_t bytes(const OutboxItem& item) const = 0;
  // The number of messages, from this one on, that the next packet has room for: at least one.
  virtual std::size_t fit(const OutboxItem& first) = 0;
  // Sends `n` messages in one packet. True: they leave the queue, since they were sent or have failed. False: the network takes no more
  // now.
  virtual bool post(const OutboxItem& first, std::size_t n) = 0;
  // Sends the next piece of the oldest long message. False: there is none, the network takes no more now, or the limit of pieces in
  // flight is reached (Strategy::pieces_ahead).
  virtual bool post_piece() = 0;

 protected:
  ~Packets() = default;
};

class Strategy {
 public:
  // Releases the entry of a message that has left.
  using Drop = lln::FunctionRef<void(OutboxItem&)>;

  virtual ~Strategy() = default;

  // collects: nonblocking sends may wait to share a packet while the network is busy with earlier messages. holds: while it is busy, a
  // send to this peer does wait.
  virtual bool collects() const = 0;
  virtual bool holds(OutboxPeer&) { return collects(); }
  // The limit of unacknowledged pieces of a long message in flight on each rail. 0: there is no limit, and the message leaves as a whole
  // if the network supports that. With a limit, a piece and an eager message have at most `counted_piece` bytes.
  virtual int pieces_ahead() const { return 0; }
  static constexpr std::size_t counted_piece = 8192;
  // Called when the network may take more for this peer. Posts entries in MPI's order and drops those that have left. Returns their
  // number. Long messages get their share too. With the VNI's lock held.
  virtual std::uint32_t send(OutboxPeer& peer, Packets& packets, Drop drop) = 0;

 protected:
  // For one peer at a time, so that no peer starves the others.
  static constexpr int pieces_at_a_time = 16;
  // True: at least one piece was sent.
  static bool send_pieces(Packets& packets, int most) {
    int sent = 0;
    while (sent < most && packets.post_piece()) ++sent;
    return sent != 0;
  }
  // No more packets are sent while the lock is held once: with a receiver that keeps up, the other threads would wait until the whole
  // queue is empty. The rest goes with the next poll, since this one has made progress.
  static constexpr int packets_at_a_time = 64;
  // Sends the entries, as many in a packet as fit. Calls sent(n) after each packet of n messages. Returns the number sent.
  template <class Sent>
  static std::uint32_t send_together(OutboxQueue& queue, Packets& packets, Drop drop, Sent&& sent) {
    std::size_t left = 0;  // messages of the packet that was sent last
    int packets_sent = 0;
    const auto goes = [&](const OutboxItem& item) {
      if (left == 0) {
        if (packets_sent == packets_at_a_time) return false;
        const std::size_t n = packets.fit(item);
        if (!packets.post(item, n)) return false;
        ++packets_sent;
        sent(n);
        left = n;
      }
      --left;
      return true;
    };
    return queue.flush(goes, drop);
  }
};

// The names of all strategies are in strategies.cpp.
inline constexpr std::string_view default_strategy = "aggregate";
bool is_strategy(std::string_view name);
// The text of an error about an unknown name: the names that exist, and the one that the user may have meant.
std::string no_strategy(std::string_view name);
// Creates the strategy of this name.
std::unique_ptr<Strategy> make_strategy(std::string_view name);
// Strategies have numbers from 0 on, the same ones in all ranks of a job.
int strategy_number(std::string_view name);
std::string_view strategy_name(int number);

}  // namespace heddle::message
