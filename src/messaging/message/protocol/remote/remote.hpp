// Messages between nodes: their form, the answers of their receivers, and the credit of eager messages (network/credits.hpp). The
// receiver returns credit when a message has matched a receive, or has been stored within the bound. It checks all contents of arriving
// messages. streams.hpp transfers the data of announced messages.
//
// With the VNI's lock held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "messaging/message/protocol/parts.hpp"
#include "messaging/message/protocol/remote/streams.hpp"
#include "messaging/message/wire.hpp"
#include "network/names.hpp"
#include "network/packet.hpp"

namespace heddle::message {

class Verdicts;

class RemoteProtocols {
 public:
  static constexpr bool to_other_node = true;

  explicit RemoteProtocols(const Parts& parts) : parts_(parts), streams_(parts) {}

  // ---- the sender

  // Posts the message, or its announcement, and returns the result. Throws std::bad_alloc.
  lln::Posted start(Request& send, Wakeups& wakeups);
  // The same for one of several messages in a packet. add: true if the packet has room for it. write: writes it. note_left: the packet
  // has left.
  bool add(lln::Packet& packet, Request& send);
  std::size_t packet_bytes(const Request& send) const { return form_of(send, leaving_of(send)).bytes; }
  void write(Request& send, lln::MessageKind kind, std::byte* to);
  void note_left(Request& send, lln::MessageKind kind, Wakeups& wakeups);
  // True if the send, which is in the outbox, waits for credit, and not for room.
  bool waits_for_credit(const Request& send) const;
  // Cancels a send whose announcement has left. The receiver decides about a synchronous send, which may complete as cancelled later. Any
  // other send completes now, and the library continues with a copy of its data (docs/adr/0088). So the result is always false: the send
  // is not cancelled now.
  bool cancel(Request& send, Wakeups& wakeups);
  // The send is about to complete: its receiver has answered, or it has never left.
  void forget(Request& send);

  // ---- the receiver

  // Allocates memory, so that the next message that matches needs none of the process. Throws std::bad_alloc.
  void reserve();
  // Handles a message that is to be matched. Throws std::bad_alloc; then the message has to arrive again.
  void arrive(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  // Handles any other message. Throws std::bad_alloc, with the same effect.
  void on_control(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  // A receive has matched an unexpected message that is not eager.
  void accept(Request& receive, const Unexpected& message, Wakeups& wakeups);

  // ---- both

  Streams& streams() { return streams_; }
  // Ends all operations that a failed peer would have to continue, and sends to living peers on revoked communicators.
  void fail(const Verdicts& verdicts, Wakeups& wakeups);

 private:
  // The form of a send in the network.
  struct Form {
    lln::Header header;
    std::size_t bytes;
  };
  Leaving leaving_of(const Request& send) const;
  static Form form_of(const Request& send, Leaving leaving);
  lln::Posted post(Request& send, const Form& form);
  void note_announced(Request& send, lln::MessageKind kind);
  std::uint64_t name_of(Request& send);
  bool hand_over(Request& send, Request& copy);
  bool go_on_with_copy(Request& send, Wakeups& wakeups);
  void send_retract(const Request& send, Wakeups& wakeups);

  void keep(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes);
  void accept(Request& receive, int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes,
              Wakeups& wakeups);
  bool obey(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  bool on_cts(int sender, const RemoteCts& cts, Wakeups& wakeups);
  bool on_end(int sender, std::uint64_t name, bool cancelled, Wakeups& wakeups);
  void on_retract(int sender, const lln::Header& header, const Retract& retract, Wakeups& wakeups);
  // True in a job that survives failures: both ends may end a message without waiting for the other one (VniState::sweep), so answers may
  // be late.
  bool may_be_late() const { return parts_.context.survives_failures; }
  [[noreturn]] void refuse(int sender, const lln::Header& header, std::size_t bytes);
  void end_with(Request& request, int error, Wakeups& wakeups);
  void fail_sends(const Verdicts& verdicts, Wakeups& wakeups);
  void fail_streams(const Verdicts& verdicts, Wakeups& wakeups);

  struct Links {
    static std::uint64_t& name(Request& send) { return send.send.name; }
    static Request*& next(Request& send) { return send.next; }
  };

  const Parts& parts_;
  Streams streams_;
  lln::Names<Request, Links> sent_;  // sends that their receivers have to answer
  // The same sends, in a job that survives failures.
  std::unordered_set<Request*> announced_;
};

}  // namespace heddle::message
