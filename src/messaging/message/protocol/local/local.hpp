// Messages between ranks of one node: which of them are eager, and how the others are announced, cancelled and failed. transfers.hpp
// moves the data of announced messages.
//
// With the VNI's lock held, unless a comment says otherwise.
#pragma once

#include <cstddef>
#include <unordered_set>

#include "messaging/message/protocol/local/claims.hpp"
#include "messaging/message/protocol/local/transfers.hpp"
#include "messaging/message/protocol/parts.hpp"
#include "messaging/message/wire.hpp"

namespace heddle::message {

class Verdicts;

class LocalProtocols {
 public:
  static constexpr bool to_other_node = false;

  explicit LocalProtocols(const Parts& parts);

  // ---- the sender

  // Posts the message, or its announcement, and returns the result. Throws std::bad_alloc.
  lln::Posted start(Request& send, Wakeups& wakeups);
  // The payload of that post in bytes.
  std::size_t packet_bytes(const Request& send) const;
  // There is no credit within a node.
  static bool waits_for_credit(const Request&) { return false; }
  // Cancels a send that is not in the outbox. True: its receiver had not claimed it.
  bool cancel(Request& send, Wakeups& wakeups);
  // The send is about to complete: its message was received, or has never left.
  void forget(Request& send);

  // ---- the receiver

  // Allocates memory, so that the next message that matches needs none of the process. Throws std::bad_alloc.
  void reserve();
  // Stores a message for which no receive is posted. Throws std::bad_alloc.
  void keep(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes);
  // A message that is not eager has matched a receive. If the sender has withdrawn the message, the receive is posted again. Throws
  // std::bad_alloc; then the receive is posted again, and the message has to arrive again.
  void on_message(Request& receive, int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes,
                  Wakeups& wakeups);
  void on_control(int sender, const lln::Header& header, const std::byte* payload, Wakeups& wakeups);
  // For an unexpected message that is not eager. claim: true if the receiver owns the message from here on. is_withdrawn: true if the
  // sender has withdrawn it. If the receiver does not own the message, the caller drops it.
  bool claim(Unexpected& message);
  bool is_withdrawn(const Unexpected& message);
  // A receive has matched such a message, which has been claimed.
  void accept(Request& receive, const Unexpected& message, Wakeups& wakeups);
  // Such a message is dropped without being received.
  void decline(const Unexpected& message);

  // ---- both

  Transfers& transfers() { return transfers_; }
  const Transfers& transfers() const { return transfers_; }
  // The bytes of the node's memory that it keeps when no message is under way.
  std::size_t node_memory() { return claims_.node_memory() + transfers_.node_memory(); }
  // Completes a transfer that has moved all its data: tells the peer, and completes the request. Throws std::bad_alloc.
  void end(Transfer& transfer, Wakeups& wakeups);
  // Ends all operations that a failed peer would have to continue. False: threads are working on some of them.
  bool fail(const Verdicts& verdicts, Wakeups& wakeups);

 private:
  Leaving leaving_of(const Request& send) const;
  lln::Posted announce(Request& send, const lln::Header& header, Wakeups& wakeups);
  void enter(Request& send);
  void end_with(Request& request, int error, Wakeups& wakeups);
  void accept(Request& receive, int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes,
              Wakeups& wakeups);
  void decline(const lln::Header& header, const std::byte* payload);
  void fail_sends(const Verdicts& verdicts, bool all, Wakeups& wakeups);

  const Parts& parts_;
  Claims claims_;
  Transfers transfers_;
  // Sends that their receivers have to confirm, if the job survives failures.
  std::unordered_set<Request*> announced_;
};

}  // namespace heddle::message
