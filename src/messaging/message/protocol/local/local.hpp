// Messages between ranks of one node: which of them are eager, how the others are announced, taken back and given up. How the data of an
// announced message move: transfers.hpp.
//
// With the VNI's lock held, but for what says otherwise.
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

  // Posts the message, or its announcement, and says what became of that. Throws std::bad_alloc.
  lln::Posted start(Request& send, Wakeups& wakeups);
  // What it brings then.
  std::size_t packet_bytes(const Request& send) const;
  // There is none within a node.
  static bool waits_for_credit(const Request&) { return false; }
  // Whether the send, which is not in the outbox, is taken back: its receiver has not claimed it.
  bool cancel(Request& send, Wakeups& wakeups);
  // The send is about to complete: its message has been received, or has never left.
  void forget(Request& send);

  // ---- the receiver

  // The next message that matches needs no memory of the process. Throws std::bad_alloc.
  void reserve();
  // A message that has found no receive. Throws std::bad_alloc.
  void keep(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes);
  // One that is not eager has found its receive, which is posted again if the sender has withdrawn the message. Throws std::bad_alloc, and then
  // the receive is posted, and the message has to come again.
  void on_message(Request& receive, int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes,
                  Wakeups& wakeups);
  void on_control(int sender, const lln::Header& header, const std::byte* payload, Wakeups& wakeups);
  // Of an unexpected message that is not eager: whether it is the receiver's from here on; whether the sender has withdrawn it. If it
  // is not the receiver's, the caller drops it.
  bool claim(Unexpected& message);
  bool is_withdrawn(const Unexpected& message);
  // A receive has met such a message, which it has claimed.
  void accept(Request& receive, const Unexpected& message, Wakeups& wakeups);
  // Such a message is dropped unread.
  void decline(const Unexpected& message);

  // ---- both

  Transfers& transfers() { return transfers_; }
  const Transfers& transfers() const { return transfers_; }
  // The last step of a transfer: tells the peer, and completes the request. Throws std::bad_alloc.
  void end(Transfer& transfer, Wakeups& wakeups);
  // Ends all that peers that have failed would have to go on with. False: threads are at work on some of it.
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
  // In a job that survives failures: sends that their receivers have to confirm.
  std::unordered_set<Request*> announced_;
};

}  // namespace heddle::message
