// Messages that their sender may have withdrawn meanwhile (claims.hpp).
#include <cstring>
#include <new>

#include "messaging/message/core.hpp"

namespace heddle::message {

using lln::Header;
using lln::MessageKind;

namespace {

// By what a message that its sender may want back is known: the sender's request, 0 if there is none, and the word that both claim.
struct Named {
  std::uint64_t request = 0;
  node::Offset claim = node::nowhere;
};

template <class Start>
Named read(const std::byte* payload) {
  Start start;
  std::memcpy(&start, payload, sizeof start);
  return {start.request, start.claim};
}

Named named(const Header& header, const std::byte* payload) {
  if (header.kind == MessageKind::rts) return read<Rts>(payload);
  if (header.kind == MessageKind::eager_ack) return read<Acknowledged>(payload);
  return {};
}

node::Offset claim_of(const Header& header, const std::byte* payload) { return named(header, payload).claim; }

}  // namespace

std::uint64_t Core::name_of_request(const Header& header, const std::byte* payload) {
  return named(header, payload).request;
}

// What an unexpected message has brought beside its announcement is given back.
void Core::decline(const Unexpected& message) { decline(message.sender, message.header, message.payload); }

void Core::decline(int sender, const Header& header, const std::byte* payload) {
  if (header.kind != MessageKind::rts || route_.is_remote(sender)) return;
  Rts rts;
  std::memcpy(&rts, payload, sizeof rts);
  transfers_.decline(rts);
}

// Whether an unexpected message is the receiver's from here on. Else it is to be dropped.
bool Core::receive(Unexpected& message) {
  if (message.received || message.local != nullptr) return true;
  const node::Offset claim = claim_of(message.header, message.payload);
  message.received = Claims::receive(heap(), claim);
  if (!message.received) {
    decline(message);
    Claims::drop(heap(), claim);
  }
  return message.received;
}

bool Core::is_withdrawn(const Unexpected& message) {
  if (message.received || message.local != nullptr) return false;
  const node::Offset claim = claim_of(message.header, message.payload);
  if (!Claims::is_withdrawn(heap(), claim)) return false;
  decline(message);
  Claims::drop(heap(), claim);
  return true;
}

// If its sender has withdrawn it, the next one that fits is taken, or the receive is posted.
void Core::start_rts_recv(Request& request, Unexpected& first, Wakeups& wakeups) {
  Unexpected* message = &first;
  while (!receive(*message)) {
    drop_unexpected(*message);
    message = matcher_.find_unexpected(request.context, request.source, request.tag);
    if (message == nullptr) return matcher_.post(request);
    matcher_.remove_unexpected(*message);
  }
  request.source = message->header.source;
  request.tag = message->header.tag;
  if (message->local != nullptr) {
    deliver_local(request, *message->local, wakeups);
  } else {
    deliver(request, message->sender, message->header, message->payload, message->payload_bytes, wakeups);
  }
  drop_unexpected(*message);
}

// `message` is the oldest that fits.
Unexpected* Core::found(Unexpected* message, std::uint64_t context, int source, int tag, bool take) {
  for (; message != nullptr; message = matcher_.find_unexpected(context, source, tag)) {
    const bool there = take ? receive(*message) : !is_withdrawn(*message);
    if (there && !take) return message;
    matcher_.remove_unexpected(*message);
    if (there) return message;
    drop_unexpected(*message);
  }
  return nullptr;
}

// The first contact with a message that its sender may have withdrawn.
void Core::deliver_rts(Request& receive, int sender, const Header& header, const std::byte* payload, std::size_t bytes,
                       Wakeups& wakeups) {
  try {
    reserve();
  } catch (const std::bad_alloc&) {
    matcher_.put_back(receive);
    throw;
  }
  const node::Offset claim = claim_of(header, payload);
  if (!Claims::receive(heap(), claim)) [[unlikely]] {
    decline(sender, header, payload);
    Claims::drop(heap(), claim);
    return matcher_.put_back(receive);
  }
  receive.source = header.source;
  receive.tag = header.tag;
  deliver(receive, sender, header, payload, bytes, wakeups);
}

}  // namespace heddle::message
