// What leaves a VNI: short messages at once, control messages, and in the outbox all that has to wait.
//
// With the VNI's lock held, but for what says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/instruments/cells.hpp"
#include "messaging/message/completion.hpp"
#include "messaging/message/context.hpp"
#include "messaging/message/outbox/outbox.hpp"
#include "network/route.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

// A send to another rank whose data can be taken at once.
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
  Outgoing(const Context& context, lln::Route& route, Completion& completion, instruments::Counters& counters);

  // Sends now if the message is eager and nothing is in the way.
  bool try_send(const SendArgs& args);
  // The same for a send whose caller goes on to something else: to another node it may wait, so that it leaves with others.
  bool try_isend(const SendArgs& args);
  // Any thread, without the lock, where claiming is concurrent: the same as try_send for a message that fits in a slot.
  bool inject(const SendArgs& args);
  // Any thread, without the lock, where claiming is by flux: for a message that fits in a fastbuffer.
  bool send_by_flux(const SendArgs& args);
  // Any thread: whether others wait for this peer, behind which a send must stay. Then none of these four takes it.
  bool must_wait(int peer) const { return outbox_.must_wait(peer); }

  // A control message, kept until there is room. A peer that has failed gets none. Throws std::bad_alloc.
  void send_to_node(int peer, lln::MessageKind kind, const auto& message, Wakeups& wakeups) {
    send_here(peer, {kind, 0, 0, 0}, &message, sizeof message, wakeups);
  }
  // The same to another node: while the network is busy it may wait for others to go with. `envelope`: of the message that it is about.
  void send_away(int peer, const lln::Header& envelope, const auto& message, Wakeups& wakeups) {
    send_bytes_away(peer, envelope, &message, sizeof message, wakeups);
  }
  void send_bytes_away(int peer, const lln::Header& header, const void* payload, std::size_t bytes, Wakeups& wakeups);
  // A send that has found no room, and waits behind what waits for the peer. Throws std::bad_alloc.
  void append(Request& send, bool to_other_node, Wakeups& wakeups);

  // Where something may wait for others: whether a send of the program's to this peer, on another node, does.
  bool is_held(int peer) { return collects_ && route_.more_follow(peer) && outbox_.holds(peer); }
  // Whether there are networks, and messages to other nodes may wait for others.
  bool collects() const { return collects_; }
  // The longest eager message to another node, or of a long one at once.
  std::size_t remote_eager_bytes() const;
  // A send has left.
  void note_left() { count_held(counters_, instruments::Count::sent); }

  Outbox& outbox() { return outbox_; }
  const Outbox& outbox() const { return outbox_; }
  lln::Route& route() { return route_; }

  // The longest eager message to a peer of any kind but this rank itself.
  std::size_t eager_limit(int peer) const;

 private:
  // A template: the two that use it, each with a type of its own, have a copy each of what they call.
  template <class User>
  bool post(const SendArgs& args, User);
  bool post_in_parts(SendArgs args);
  void send_here(int peer, const lln::Header& header, const void* payload, std::size_t bytes, Wakeups& wakeups);
  OutboxItem& make_control(const lln::Header& header, const void* payload, std::size_t bytes);
  void append(int peer, OutboxItem& item, bool to_other_node, Wakeups& wakeups);

  const Context& context_;
  lln::Route& route_;
  Completion& completion_;
  instruments::Counters& counters_;
  Outbox outbox_;
  const bool collects_;
};

}  // namespace heddle::message
