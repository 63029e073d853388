// Messages that are there before their receives; and those that their sender may have withdrawn meanwhile (claims.hpp).
#include <cstring>

#include "p2p/core.hpp"

namespace heddle::p2p {

using instruments::Count;
using instruments::count_held;
using lln::Header;
using lln::MessageKind;

namespace {

lln::shm::Offset claim_of(const Header& header, const std::byte* payload) {
  if (header.kind == MessageKind::rts) {
    Offer offer;
    std::memcpy(&offer, payload, sizeof offer);
    return offer.claim;
  }
  if (header.kind == MessageKind::eager_ack) {
    Acknowledged acknowledged;
    std::memcpy(&acknowledged, payload, sizeof acknowledged);
    return acknowledged.claim;
  }
  return lln::shm::nowhere;
}

}  // namespace

// ---- queueing

Unexpected* Core::make_unexpected(int sender, const Header& header, std::size_t payload_bytes) {
  Unexpected* message = free_unexpected_;
  if (message != nullptr) {
    free_unexpected_ = message->next;
  } else {
    message = new Unexpected;
  }
  message->header = header;
  message->sender = sender;
  message->local = nullptr;
  message->received = false;
  message->payload_bytes = payload_bytes;
  message->payload = payload_bytes <= sizeof message->storage ? message->storage : new std::byte[payload_bytes];
  return message;
}

void Core::drop_unexpected(Unexpected& message) {
  if (message.payload != message.storage) delete[] message.payload;
  message.next = free_unexpected_;
  free_unexpected_ = &message;
}

// A message whose receive has not been posted.
void Core::keep(int sender, const Header& header, const std::byte* payload, std::size_t bytes) {
  Unexpected* message = make_unexpected(sender, header, bytes);
  std::memcpy(message->payload, payload, bytes);
  message->bytes = bytes;
  if (header.kind == MessageKind::eager_ack) {
    message->bytes -= sizeof(Acknowledged);
  } else if (header.kind == MessageKind::rts) {
    Offer offer;
    std::memcpy(&offer, payload, sizeof offer);
    message->bytes = offer.bytes;
  }
  add_unexpected(*message);
}

// A probe that sleeps is told of every message that it might look for.
void Core::add_unexpected(Unexpected& message) {
  count_held(counters_, Count::unexpected);
  matcher_.add_unexpected(message);
  if (probers.load(std::memory_order_relaxed) != 0) [[unlikely]]
    endpoint_.own_bell().ring();
}

// ---- receiving

// Whether an unexpected message is the receiver's from here on. Else it is to be dropped.
bool Core::receive(Unexpected& message) {
  if (message.received || message.local != nullptr) return true;
  const lln::shm::Offset claim = claim_of(message.header, message.payload);
  message.received = Claims::receive(endpoint_.heap(), claim);
  if (!message.received) Claims::drop(endpoint_.heap(), claim);
  return message.received;
}

bool Core::is_withdrawn(const Unexpected& message) {
  if (message.received || message.local != nullptr) return false;
  const lln::shm::Offset claim = claim_of(message.header, message.payload);
  if (!Claims::is_withdrawn(endpoint_.heap(), claim)) return false;
  Claims::drop(endpoint_.heap(), claim);
  return true;
}

// The message has left its queue. If its sender has withdrawn it, the next one that fits is taken, or the receive is posted.
void Core::start_matched_recv(Request& request, Unexpected& first, Wakeups& wakeups) {
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

Unexpected* Core::probe(std::uint64_t context, int source, int tag, bool take) {
  for (;;) {
    Unexpected* const message = matcher_.find_unexpected(context, source, tag);
    if (message == nullptr) return nullptr;
    const bool there = take ? receive(*message) : !is_withdrawn(*message);
    if (there && !take) return message;
    matcher_.remove_unexpected(*message);
    if (there) return message;
    drop_unexpected(*message);
  }
}

// The first contact with a message that its sender may have withdrawn.
void Core::deliver_offered(Request& receive, int sender, const Header& header, const std::byte* payload,
                           std::size_t bytes, Wakeups& wakeups) {
  const lln::shm::Offset claim = claim_of(header, payload);
  if (!Claims::receive(endpoint_.heap(), claim)) [[unlikely]] {
    Claims::drop(endpoint_.heap(), claim);
    return matcher_.put_back(receive);
  }
  receive.source = header.source;
  receive.tag = header.tag;
  deliver(receive, sender, header, payload, bytes, wakeups);
}

}  // namespace heddle::p2p
