#include "messaging/message/protocol/local/local.hpp"

#include <mpi-ext.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "launch/boot/peer_memory.hpp"
#include "messaging/message/verdicts.hpp"

namespace heddle::message {

using lln::Header;
using lln::MessageKind;
using lln::Posted;

namespace {

// True if the send may complete before the message is received, and gains by that.
bool may_complete_early(const Request& send) {
  const auto mode = static_cast<Mode>(send.mode);
  return mode != Mode::synchronous && mode != Mode::buffered;
}

node::Offset claim_of(const Header& header, const std::byte* payload) {
  if (header.kind == MessageKind::rts) return first_of<LocalRts>(payload).claim;
  if (header.kind == MessageKind::eager_ack) return first_of<LocalAck>(payload).claim;
  return node::nowhere;
}

}  // namespace

LocalProtocols::LocalProtocols(const Parts& parts)
    : parts_(parts), claims_(parts.context.node.heap()), transfers_(parts, claims_) {}

// ---- the sender

Leaving LocalProtocols::leaving_of(const Request& send) const {
  const std::size_t of_stamp = send.send.order.stamp != 0 ? sizeof send.send.order.stamp : 0;
  return plan_send(send.capacity, is_synchronous(send), parts_.outgoing.local_eager_limit(send.peer) - of_stamp,
                   sizeof(LocalAck));
}

std::size_t LocalProtocols::packet_bytes(const Request& send) const {
  const Leaving leaving = leaving_of(send);
  if (leaving == Leaving::announced) return sizeof(LocalRts);
  return send.capacity + (leaving == Leaving::acknowledged ? sizeof(LocalAck) : 0);
}

Posted LocalProtocols::start(Request& send, Wakeups& wakeups) {
  Header header{MessageKind::eager, send.source, send.tag, send.context};
  switch (leaving_of(send)) {
    case Leaving::eager: {
      const auto fill = [&](std::byte* to) { pack(*send.datatype, send.buffer, send.count, 0, to, send.capacity); };
      const Posted posted = parts_.outgoing.post_for(send, header, send.capacity, fill);
      if (posted != Posted::done) return posted;
      parts_.outgoing.note_left();
      forget(send);
      parts_.completion.finish(send, wakeups);
      return Posted::done;
    }
    case Leaving::acknowledged: {
      enter(send);
      header.kind = MessageKind::eager_ack;
      const auto fill = [&](std::byte* to) {
        const LocalAck ack{reinterpret_cast<std::uint64_t>(&send), send.send.claim};
        std::memcpy(to, &ack, sizeof ack);
        pack(*send.datatype, send.buffer, send.count, 0, to + sizeof ack, send.capacity);
      };
      const Posted posted = parts_.outgoing.post_for(send, header, sizeof(LocalAck) + send.capacity, fill);
      if (posted == Posted::done) parts_.outgoing.note_left();
      return posted;
    }
    case Leaving::announced:
      break;
  }
  enter(send);
  header.kind = MessageKind::rts;
  const Posted posted = announce(send, header, wakeups);
  if (posted == Posted::done) parts_.outgoing.note_left();
  return posted;
}

// Gives the send its claim word, and records the send if its receiver may fail. If there is no room now, both are kept for the next
// attempt.
void LocalProtocols::enter(Request& send) {
  if (send.send.claim != node::nowhere) return;
  if (parts_.context.survives_failures) announced_.insert(&send);
  send.send.claim = claims_.make();
}

// The RTS says how the data can be transferred and, if the sender stages them early, names the stage. If the RTS has not left, the stage
// is taken back.
Posted LocalProtocols::announce(Request& send, const Header& header, Wakeups& wakeups) {
  LocalRts rts{send.capacity,
               reinterpret_cast<std::uint64_t>(&send),
               is_run(*send.datatype, send.count) ? reinterpret_cast<std::uint64_t>(run_of(send)) : 0,
               send.send.claim,
               transfers_.wishes(send.peer, send.capacity),
               node::nowhere};
  if (send.send.claim != node::nowhere && may_complete_early(send) &&
      claims_.unread() + transfers_.staged_early() < most_unread)
    rts.stage = transfers_.offer(send);
  const auto fill = [&](std::byte* to) { std::memcpy(to, &rts, sizeof rts); };
  const Posted posted = parts_.outgoing.post_for(send, header, sizeof rts, fill);
  if (rts.stage == node::nowhere) {
    transfers_.note_sent();
  } else if (posted == Posted::done) {
    transfers_.begin(send, rts.stage, wakeups);
  } else {
    transfers_.take_back(send.peer, rts.stage);
  }
  return posted;
}

bool LocalProtocols::cancel(Request& send, Wakeups&) {
  Transfer* const staged = transfers_.claim_untouched(send);
  if (staged != nullptr && claims_.withdraw(staged->claim)) {
    transfers_.drop(*staged);
  } else {
    if (staged != nullptr) transfers_.put_back(*staged);  // or it is of an earlier send, which its receiver has claimed
    if (send.send.claim == node::nowhere || !claims_.withdraw(send.send.claim)) return false;
  }
  announced_.erase(&send);
  return true;
}

void LocalProtocols::forget(Request& send) {
  if (!announced_.empty()) announced_.erase(&send);
  if (send.send.claim == node::nowhere) return;
  claims_.recycle(send.send.claim);
  send.send.claim = node::nowhere;
}

void LocalProtocols::end_with(Request& request, int error, Wakeups& wakeups) {
  if (request.receives) return parts_.completion.fail_receive(request, error, wakeups);
  request.error = error;
  forget(request);
  parts_.completion.finish(request, wakeups);
}

// ---- the receiver

void LocalProtocols::reserve() {
  transfers_.reserve();
  parts_.outgoing.outbox().reserve();
}

void LocalProtocols::keep(int sender, const Header& header, const std::byte* payload, std::size_t bytes) {
  std::size_t of_message = bytes;
  if (header.kind == MessageKind::eager_ack) of_message -= sizeof(LocalAck);
  if (header.kind == MessageKind::rts) of_message = first_of<LocalRts>(payload).bytes;
  parts_.unexpected.keep(Unexpected::Origin::this_node, sender, header, payload, bytes, of_message);
}

void LocalProtocols::on_message(Request& receive, int sender, const Header& header, const std::byte* payload,
                                std::size_t bytes, Wakeups& wakeups) {
  try {
    reserve();
  } catch (const std::bad_alloc&) {
    parts_.matcher.put_back(receive);
    throw;
  }
  const node::Offset claim = claim_of(header, payload);
  node::Heap& heap = parts_.context.node.heap();
  if (!Claims::receive(heap, claim)) [[unlikely]] {
    decline(header, payload);
    Claims::drop(heap, claim);
    return parts_.matcher.put_back(receive);
  }
  receive.source = header.source;
  receive.tag = header.tag;
  accept(receive, sender, header, payload, bytes, wakeups);
}

bool LocalProtocols::claim(Unexpected& message) {
  if (message.received) return true;
  const node::Offset claim = claim_of(message.header, message.payload);
  message.received = Claims::receive(parts_.context.node.heap(), claim);
  if (!message.received) {
    decline(message);
    Claims::drop(parts_.context.node.heap(), claim);
  }
  return message.received;
}

bool LocalProtocols::is_withdrawn(const Unexpected& message) {
  if (message.received) return false;
  const node::Offset claim = claim_of(message.header, message.payload);
  if (!Claims::is_withdrawn(parts_.context.node.heap(), claim)) return false;
  decline(message);
  Claims::drop(parts_.context.node.heap(), claim);
  return true;
}

void LocalProtocols::accept(Request& receive, const Unexpected& message, Wakeups& wakeups) {
  accept(receive, message.sender, message.header, message.payload, message.payload_bytes, wakeups);
}

void LocalProtocols::accept(Request& receive, int sender, const Header& header, const std::byte* payload,
                            std::size_t bytes, Wakeups& wakeups) {
  if (header.kind == MessageKind::rts) {
    const auto rts = first_of<LocalRts>(payload);
    if (parts_.outgoing.outbox().is_closed(sender)) {
      transfers_.decline(rts);
      return parts_.completion.fail_receive(receive, MPIX_ERR_PROC_FAILED, wakeups);
    }
    Completion::withdraw_report(receive);  // it is not complete while its data arrive, and is not among the posted ones
    if (rts.bytes > receive.capacity) Completion::truncate(receive, rts.bytes);
    receive.bytes = std::min<std::size_t>(rts.bytes, receive.capacity);
    return transfers_.accept(receive, sender, rts, wakeups);
  }
  if (header.kind == MessageKind::eager_ack) {
    parts_.outgoing.send_to_node(sender, MessageKind::fin, LocalFin{first_of<LocalAck>(payload).send}, wakeups);
    payload += sizeof(LocalAck);
    bytes -= sizeof(LocalAck);
  }
  parts_.completion.deliver(receive, payload, bytes, wakeups);
}

void LocalProtocols::decline(const Unexpected& message) { decline(message.header, message.payload); }

void LocalProtocols::decline(const Header& header, const std::byte* payload) {
  if (header.kind == MessageKind::rts) transfers_.decline(first_of<LocalRts>(payload));
}

// ---- both

void LocalProtocols::on_control(int sender, const Header& header, const std::byte* payload, Wakeups& wakeups) {
  if (parts_.outgoing.outbox().is_closed(sender)) return;  // the operation that it concerns has ended
  if (header.kind == MessageKind::cts) return transfers_.cleared(sender, first_of<LocalCts>(payload), wakeups);
  transfers_.join_chunks();
  Request& send = *reinterpret_cast<Request*>(first_of<LocalFin>(payload).send);
  forget(send);
  parts_.completion.finish(send, wakeups);
}

void LocalProtocols::end(Transfer& transfer, Wakeups& wakeups) {
  using Role = Transfer::Role;
  const bool receives = transfer.role != Role::split_writer && transfer.role != Role::packer;
  if (receives) {
    if (!transfer.early || transfer.taken)
      parts_.outgoing.send_to_node(transfer.peer, MessageKind::fin, LocalFin{transfer.send}, wakeups);
    transfers_.learn(transfer);
    parts_.completion.finish(*transfer.request, wakeups);
  } else if (transfer.early) {
    claims_.leave(transfer.claim);
    // The receiver sends a FIN for a message of which it has copied a part itself, as for every message that it has sent a CTS for.
    if (transfer.position == transfer.bytes) {
      forget(*transfer.request);
      parts_.completion.finish(*transfer.request, wakeups);
    }
  }
  transfers_.retire(transfer);
}

bool LocalProtocols::fail(const Verdicts& verdicts, Wakeups& wakeups) {
  const bool complete = transfers_.abandon(verdicts, [&](Transfer& transfer) {
    using Role = Transfer::Role;
    if (transfer.early && transfer.role == Role::packer) claims_.recycle(transfer.claim);
    if (transfer.role == Role::packer || transfer.role == Role::split_writer) return;  // the send is in announced_
    end_with(*transfer.request, MPIX_ERR_PROC_FAILED, wakeups);
  });
  fail_sends(verdicts, complete, wakeups);
  return complete;
}

// Ends sends that their receivers have not confirmed. `all`: no thread is working on one of them.
void LocalProtocols::fail_sends(const Verdicts& verdicts, bool all, Wakeups& wakeups) {
  for (auto next = announced_.begin(); next != announced_.end();) {
    Request& send = **next;
    ++next;
    const int error = verdicts.of_send(send.context, send.peer);
    if (error == MPI_SUCCESS) continue;
    if (verdicts.is_gone(send.peer)) {
      if (all) end_with(send, MPIX_ERR_PROC_FAILED, wakeups);
      continue;
    }
    if (send.send.claim == node::nowhere || !claims_.withdraw(send.send.claim))
      continue;  // its receiver owns the message, and lives
    send.send.claim = node::nowhere;
    end_with(send, error, wakeups);
  }
}

}  // namespace heddle::message
