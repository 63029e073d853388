// The receiver's part of a message between nodes, and the receiver's answers at the sender.
#include <mpi-ext.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <optional>

#include "launch/boot/join.hpp"
#include "messaging/message/protocol/remote/remote.hpp"
#include "messaging/wake/wake.hpp"

namespace heddle::message {

using lln::Header;
using lln::MessageKind;

namespace {

// The name of the send of an unexpected message that is not eager; 0: the message is eager.
std::uint64_t name_of_send(const Unexpected& message) {
  if (message.header.kind == MessageKind::rts) return first_of<RemoteRts>(message.payload).send;
  if (message.header.kind == MessageKind::eager_ack) return first_of<RemoteAck>(message.payload).send;
  return 0;
}

Header control(MessageKind kind) { return {kind, 0, 0, 0}; }

}  // namespace

void RemoteProtocols::reserve() {
  streams_.reserve();
  parts_.outgoing.outbox().reserve();
}

void RemoteProtocols::arrive(int sender, const Header& header, const std::byte* payload, std::size_t bytes,
                             Wakeups& wakeups) {
  if (!is_well_formed(header, parts_.context.ranks, payload, bytes)) [[unlikely]]
    refuse(sender, header, bytes);
  Request* const receive = parts_.matcher.take_receive(header);
  if (receive == nullptr) return keep(sender, header, payload, bytes);
  if (header.kind != MessageKind::eager) {
    try {
      reserve();
    } catch (const std::bad_alloc&) {
      parts_.matcher.put_back(*receive);
      throw;
    }
  }
  receive->source = header.source;
  receive->tag = header.tag;
  if (header.kind == MessageKind::rts) {
    // This message is short enough to be eager: its sender had no credit for it. Give the sender more.
    const std::uint64_t of_message = first_of<RemoteRts>(payload).bytes;
    if (of_message <= parts_.outgoing.remote_eager_bytes()) parts_.route.widen_credit(sender, of_message);
  }
  accept(*receive, sender, header, payload, bytes, wakeups);
  if (lln::needs_credit(header.kind)) parts_.route.note_matched(sender, bytes);
}

void RemoteProtocols::keep(int sender, const Header& header, const std::byte* payload, std::size_t bytes) {
  if (header.kind == MessageKind::rts)
    return parts_.unexpected.keep(Unexpected::Origin::other_node, sender, header, payload, bytes,
                                  first_of<RemoteRts>(payload).bytes);
  const std::size_t head = header.kind == MessageKind::eager_ack ? sizeof(RemoteAck) : 0;
  parts_.unexpected.keep_on_credit(sender, header, payload, bytes, bytes - head);
}

void RemoteProtocols::accept(Request& receive, const Unexpected& message, Wakeups& wakeups) {
  accept(receive, message.sender, message.header, message.payload, message.payload_bytes, wakeups);
}

void RemoteProtocols::accept(Request& receive, int sender, const Header& header, const std::byte* payload,
                             std::size_t bytes, Wakeups& wakeups) {
  if (header.kind == MessageKind::rts) {
    const auto rts = first_of<RemoteRts>(payload);
    if (parts_.outgoing.outbox().is_closed(sender))
      return parts_.completion.fail_receive(receive, MPIX_ERR_PROC_FAILED, wakeups);
    Completion::withdraw_report(receive);  // it is not complete while its data arrive, and is not among the posted ones
    if (rts.bytes > receive.capacity) Completion::truncate(receive, rts.bytes);
    receive.bytes = std::min<std::size_t>(rts.bytes, receive.capacity);
    return streams_.accept(receive, sender, rts, wakeups);
  }
  if (header.kind == MessageKind::eager_ack) {
    parts_.outgoing.send_away(sender, control(MessageKind::fin), RemoteFin{first_of<RemoteAck>(payload).send}, wakeups);
    payload += sizeof(RemoteAck);
    bytes -= sizeof(RemoteAck);
  }
  parts_.completion.deliver(receive, payload, bytes, wakeups);
}

// ---- control messages

void RemoteProtocols::on_control(int sender, const Header& header, const std::byte* payload, std::size_t bytes,
                                 Wakeups& wakeups) {
  if (parts_.outgoing.outbox().is_closed(sender)) return;  // the sender has failed; its operations have ended
  if (!obey(sender, header, payload, bytes, wakeups)) refuse(sender, header, bytes);
}

// False: the message is malformed.
bool RemoteProtocols::obey(int sender, const Header& header, const std::byte* payload, std::size_t bytes,
                           Wakeups& wakeups) {
  switch (header.kind) {
    case MessageKind::left:
    case MessageKind::landed: {  // from the network itself
      const auto name = all_of<std::uint64_t>(payload, bytes);
      if (name) streams_.end(*name, wakeups);
      return true;
    }
    case MessageKind::credit:  // for messages in the outbox, which the polling thread flushes
      return true;
    case MessageKind::data:
      if (streams_.arrived(sender, payload, bytes, wakeups)) return true;
      if (!may_be_late()) return false;
      streams_.dismiss(sender, payload, bytes, wakeups);
      return true;
    case MessageKind::more: {
      const auto more = all_of<More>(payload, bytes);
      if (!more || !streams_.heard(sender, *more)) return false;
      parts_.context.wake.on(wake::Event::pieces_cleared, wakeups);
      return true;
    }
    case MessageKind::retract: {
      const auto retract = all_of<Retract>(payload, bytes);
      if (!retract || retract->send == 0) return false;
      on_retract(sender, header, *retract, wakeups);
      return true;
    }
    case MessageKind::retracted: {
      const auto answer = all_of<Retracted>(payload, bytes);
      if (!answer || answer->send == 0) return false;
      // Otherwise a receive has matched the message, or will soon: the request may be complete.
      return answer->withdrawn == 0 || on_end(sender, answer->send, true, wakeups);
    }
    case MessageKind::cts: {
      const auto cts = cts_of(payload, bytes);
      return cts && on_cts(sender, *cts, wakeups);
    }
    case MessageKind::fin: {
      const auto fin = all_of<RemoteFin>(payload, bytes);
      return fin && fin->send != 0 && on_end(sender, fin->send, false, wakeups);
    }
    default:
      return false;
  }
}

// A send gets one answer.
bool RemoteProtocols::on_cts(int sender, const RemoteCts& cts, Wakeups& wakeups) {
  Request* const send = sent_.find(cts.send);
  if (send == nullptr) return may_be_late();
  if (send->peer != sender || cts.bytes > send->capacity) return false;
  streams_.reserve();  // or the CTS stays in the network
  forget(*send);
  streams_.cleared(*send, cts);
  parts_.context.wake.on(wake::Event::pieces_cleared, wakeups);
  return true;
}

bool RemoteProtocols::on_end(int sender, std::uint64_t name, bool cancelled, Wakeups& wakeups) {
  Request* const send = sent_.find(name);
  if (send == nullptr) return may_be_late();
  if (send->peer != sender) return false;
  forget(*send);
  send->cancelled = cancelled;
  parts_.completion.finish(*send, wakeups);
  return true;
}

// The sender cancels a message. The request to cancel arrives after the message, so the message is here, or a receive has matched it.
void RemoteProtocols::on_retract(int sender, const Header& header, const Retract& retract, Wakeups& wakeups) {
  Unexpected* const message = parts_.matcher.find_unexpected_if(envelope_of(header), [&](const Unexpected& unexpected) {
    return unexpected.origin == Unexpected::Origin::other_node && unexpected.sender == sender &&
           name_of_send(unexpected) == retract.send;
  });
  if (message != nullptr) {
    parts_.matcher.remove_unexpected(*message);
    parts_.unexpected.drop(*message);
  }
  parts_.outgoing.send_away(sender, control(MessageKind::retracted), Retracted{retract.send, message != nullptr},
                            wakeups);
}

// All messages of the network come from ranks of the job. So the sender is damaged, or is not the program that it claims to be.
void RemoteProtocols::refuse(int sender, const Header& header, std::size_t bytes) {
  char text[200];
  std::snprintf(
      text, sizeof text,
      "rank %d has received a malformed message from rank %d on another node (kind %d, %zu bytes): that rank is "
      "damaged, or a "
      "message has been lost",
      parts_.context.world_rank, sender, static_cast<int>(header.kind), bytes);
  boot::abort(parts_.context.job, MPI_ERR_OTHER, text);
}

}  // namespace heddle::message
