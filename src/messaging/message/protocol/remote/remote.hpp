// Messages between nodes: their form, the answers of their receivers, and the credit of eager ones (network/credits.hpp), which is returned when a
// message has met its receive or has been stored within the bound. Of what arrives nothing is believed but what can be checked. How the data of
// an announced message move: streams.hpp.
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

  // Posts the message, or its announcement, and says what became of that. Throws std::bad_alloc.
  lln::Posted start(Request& send, Wakeups& wakeups);
  // The same as one of several messages of a packet: whether the packet has room for it; what it writes; and that the packet has left.
  bool add(lln::Packet& packet, Request& send);
  std::size_t packet_bytes(const Request& send) const { return form_of(send, leaving_of(send)).bytes; }
  void write(Request& send, lln::MessageKind kind, std::byte* to);
  void note_left(Request& send, lln::MessageKind kind, Wakeups& wakeups);
  // Whether the send, which is in the outbox, waits for credit, and so needs no room.
  bool waits_for_credit(const Request& send) const;
  // A send of which its receiver has been told cannot be taken back by the sender alone. The receiver decides about a synchronous one, which may
  // be cancelled later; any other completes now, and the library goes on with a copy of its data (docs/adr/0088). So: false.
  bool cancel(Request& send, Wakeups& wakeups);
  // The send is about to complete: its receiver has answered, or it has never left.
  void forget(Request& send);

  // ---- the receiver

  // The next message that matches needs no memory of the process. Throws std::bad_alloc.
  void reserve();
  // A message that is matched. Throws std::bad_alloc, and then it has to come again.
  void arrive(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  // Every other one. Throws std::bad_alloc likewise.
  void on_control(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  // A receive has met an unexpected message that is not eager.
  void accept(Request& receive, const Unexpected& message, Wakeups& wakeups);

  // ---- both

  Streams& streams() { return streams_; }
  // Ends all that peers that have failed would have to go on with, and sends to living ones of revoked communicators.
  void fail(const Verdicts& verdicts, Wakeups& wakeups);

 private:
  // What a send looks like on its way.
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
  // Where failures are survived, both ends give a message up, and neither waits until the other knows (VniState::sweep).
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
  // In a job that survives failures: the same.
  std::unordered_set<Request*> announced_;
};

}  // namespace heddle::message
