// Messages that arrive from other nodes, and the credit of those that were sent unasked (lln/credits.hpp): it is returned when their data have
// been copied out.
#include <algorithm>
#include <cstring>
#include <new>

#include "message/core.hpp"

namespace heddle::message {

using instruments::Count;
using instruments::count_held;
using lln::Credits;
using lln::Header;
using lln::MessageKind;

static_assert(sizeof(Unexpected) + 2 * sizeof(std::size_t) <= Credits::per_message,
              "with what malloc adds to a payload");

// Whether it is announced only for want of credit: it is short enough to go unasked.
bool Core::was_uncredited(const Header& header, const std::byte* payload, std::size_t bytes) const {
  if (header.kind != MessageKind::rts || bytes < sizeof(Rts)) return false;
  Rts rts;
  std::memcpy(&rts, payload, sizeof rts);
  return rts.bytes <= route_.remote_eager_bytes();
}

// As arrive(), which knows nothing of credit.
void Core::arrive_remote(int sender, const Header& header, const std::byte* payload, std::size_t bytes,
                         Wakeups& wakeups) {
  const bool on_credit = lln::needs_credit(header.kind);
  Request* const receive = matcher_.take_receive(header);
  if (receive == nullptr)
    return on_credit ? keep_on_credit(sender, header, payload, bytes) : keep(sender, header, payload, bytes);
  if (header.kind == MessageKind::eager) {
    receive->source = header.source;
    receive->tag = header.tag;
    deliver(*receive, sender, header, payload, bytes, wakeups);
  } else {
    if (was_uncredited(header, payload, bytes)) route_.widen_credit(sender);
    deliver_rts(*receive, sender, header, payload, bytes, wakeups);
  }
  if (on_credit) route_.return_credit(sender, bytes);
}

// The payload lies apart, whatever its size: where one does, drop_unexpected() asks whether credit is to be returned.
void Core::keep_on_credit(int sender, const Header& header, const std::byte* payload, std::size_t bytes) {
  Unexpected* const message = make_unexpected(sender, header, 0);
  try {
    message->payload = new std::byte[bytes];
  } catch (const std::bad_alloc&) {
    drop_unexpected(*message);
    matcher_.forget(header);
    throw;
  }
  std::copy_n(payload, bytes, message->payload);
  message->payload_bytes = bytes;
  message->bytes = header.kind == MessageKind::eager_ack ? bytes - sizeof(Acknowledged) : bytes;
  count_held(counters_, Count::buffered, bytes);
  add_unexpected(*message);
}

void Core::drop_payload(const Unexpected& message) {
  delete[] message.payload;
  if (lln::needs_credit(message.header.kind) && route_.is_remote(message.sender))
    route_.return_credit(message.sender, message.payload_bytes);
}

}  // namespace heddle::message
