// Messages that leave a VNI: short messages and control messages, which leave at once or wait in the outbox.
//
// With the VNI's lock held, unless a comment says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/instruments/cells.hpp"
#include "messaging/message/completion.hpp"
#include "messaging/message/context.hpp"
#include "messaging/message/outbox/outbox.hpp"
#include "network/route.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

// A send to another rank whose data can be copied at once.
struct SendArgs {
  lln::Header header;
  int peer;  // world rank
  const void* buffer;
  MPI_Count count;
  const Datatype& datatype;
  std::size_t bytes;
};

class Outgoing {
 public:
  Outgoing(const Context& context, lln::Route& route, instruments::Counters& counters);

  // Sends now, if the message is eager and no earlier message to the peer waits.
  bool try_send(const SendArgs& args);
  // The same for a nonblocking send: to another node it may wait, and share a packet with other messages.
  bool try_isend(const SendArgs& args);
  // Any thread, without the lock, if claiming is concurrent: try_send for a message that fits in a slot.
  bool inject(const SendArgs& args);
  // Any thread, without the lock, if claiming is by flux: try_send for a message that fits in a fastbuffer.
  bool send_by_flux(const SendArgs& args);
  // try_send for a message with a stamp, to a peer of this node. `concurrently`: any thread, without the lock, as inject.
  bool send_stamped(const SendArgs& args, std::uint64_t stamp, bool concurrently);
  // Any thread. True if other messages wait for this peer, so that a send has to wait behind them. Then the functions above return
  // false.
  bool must_wait(int peer) const { return outbox_.must_wait(peer); }

  // Sends a control message; it waits in the outbox if there is no room. Nothing is sent to a failed peer. Throws std::bad_alloc.
  void send_to_node(int peer, lln::MessageKind kind, const auto& message, Wakeups& wakeups) {
    send_here(peer, {kind, 0, 0, 0}, &message, sizeof message, wakeups);
  }
  // The same to another node; while the network is busy, the message may wait to share a packet. `envelope`: of the message that it
  // concerns.
  void send_away(int peer, const lln::Header& envelope, const auto& message, Wakeups& wakeups) {
    send_bytes_away(peer, envelope, &message, sizeof message, wakeups);
  }
  void send_bytes_away(int peer, const lln::Header& header, const void* payload, std::size_t bytes, Wakeups& wakeups);
  // Appends a send that has found no room to the messages that wait for its peer. Throws std::bad_alloc.
  void append(Request& send, bool to_other_node, Wakeups& wakeups);

  // True if a nonblocking send to this peer, on another node, has to wait to share a packet.
  bool is_held(int peer) { return collects_ && route_.more_follow(peer) && outbox_.holds(peer); }
  // True if there are networks, and messages to other nodes may wait to share a packet.
  bool collects() const { return collects_; }
  // The longest eager message to another node, and the longest piece of a long one.
  std::size_t remote_eager_bytes() const;
  // Posts a message of a send to a peer of this node, with the stamp of the send if it has one.
  template <class Fill>
  lln::Posted post_for(const Request& send, lln::Header header, std::size_t bytes, Fill&& fill) {
    const std::uint64_t stamp = send.send.order.stamp;
    if (stamp == 0) [[likely]]
      return route_.post(send.peer, header, bytes, fill);
    header.kind = lln::with_stamp(header.kind);
    return route_.post(send.peer, header, bytes + sizeof stamp, [&](std::byte* to) {
      fill(to);
      std::memcpy(to + bytes, &stamp, sizeof stamp);
    });
  }
  // Counts a send that has left.
  void note_left() { count_held(counters_, instruments::Count::sent); }

  // The longest eager message to a peer on this node.
  std::size_t local_eager_limit(int peer) const;

  Outbox& outbox() { return outbox_; }
  const Outbox& outbox() const { return outbox_; }
  lln::Route& route() { return route_; }

  // The longest eager message to a peer other than this rank itself.
  std::size_t eager_limit(int peer) const;

 private:
  // A template, so that each of its two callers, with a type of its own, gets its own inlined copy of the called functions.
  template <class User>
  bool post(const SendArgs& args, User);
  bool post_in_parts(SendArgs args);
  void send_here(int peer, const lln::Header& header, const void* payload, std::size_t bytes, Wakeups& wakeups);
  OutboxItem& make_control(const lln::Header& header, const void* payload, std::size_t bytes);
  void append(int peer, OutboxItem& item, bool to_other_node, Wakeups& wakeups);

  const Context& context_;
  lln::Route& route_;
  instruments::Counters& counters_;
  Outbox outbox_;
  const bool collects_;
};

}  // namespace heddle::message
