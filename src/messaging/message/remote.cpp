// Messages that arrive from other nodes, of which nothing is believed but what can be checked, and the credit of eager ones
// (network/credits.hpp): it is returned when a message has met its receive, or has been stored within the bound.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

#include "launch/boot/join.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/message/core.hpp"

namespace heddle::message {

using instruments::Count;
using instruments::count_held;
using lln::Credits;
using lln::Header;
using lln::MessageKind;

static_assert(sizeof(Unexpected) + 2 * sizeof(std::size_t) <= Credits::per_message,
              "with what malloc adds to a payload");

// The receive of what was announced is there. If that was only for want of credit, since it is short enough to go eagerly, there had better be more.
void Core::note_received(int sender, const std::byte* payload) {
  Rts rts;
  std::memcpy(&rts, payload, sizeof rts);
  if (rts.bytes <= longest_away()) route_.widen_credit(sender, rts.bytes);
}

// As arrive(), which knows nothing of credit.
void Core::arrive_remote(int sender, const Header& header, const std::byte* payload, std::size_t bytes,
                         Wakeups& wakeups) {
  if (!is_whole(header, rank_.world_size, payload, bytes)) [[unlikely]]
    refuse(sender, header, bytes);
  const bool on_credit = lln::needs_credit(header.kind);
  Request* const receive = matcher_.take_receive(header);
  if (receive == nullptr)
    return on_credit ? keep_on_credit(sender, header, payload, bytes) : keep(sender, header, payload, bytes);
  if (header.kind == MessageKind::eager) {
    receive->source = header.source;
    receive->tag = header.tag;
    deliver(*receive, sender, header, payload, bytes, wakeups);
  } else {
    if (header.kind == MessageKind::rts) note_received(sender, payload);
    deliver_rts(*receive, sender, header, payload, bytes, wakeups);
  }
  if (on_credit) route_.note_matched(sender, bytes);
}

void Core::arrive_remote_control(int sender, const Header& header, const std::byte* payload, std::size_t bytes,
                                 Wakeups& wakeups) {
  if (outbox_.is_closed(sender)) return;  // it has failed, and what it speaks of has ended
  if (!obey(sender, header, payload, bytes, wakeups)) refuse(sender, header, bytes);
}

// False: it makes no sense.
bool Core::obey(int sender, const Header& header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups) {
  switch (header.kind) {
    case MessageKind::left:
    case MessageKind::landed:  // what the network itself says
      streams_.end(name_in(payload, bytes), wakeups);
      return true;
    case MessageKind::credit:  // for what waits in the outbox, which is flushed by whoever has polled
      return true;
    case MessageKind::data:
      return streams_.arrived(sender, header, payload, bytes, wakeups) || may_be_late();
    case MessageKind::more:
      if (!streams_.heard(sender, header, payload, bytes)) return false;
      wake_blocked(wakeups);
      return true;
    case MessageKind::retract: {
      const std::uint64_t name = name_in(payload, bytes);
      if (name != 0) arrive_retract(sender, header, name, wakeups);
      return name != 0;
    }
    case MessageKind::retracted:
      // Else it has been received, or soon is: the request may be gone.
      if (header.source == 0) return true;
      [[fallthrough]];
    case MessageKind::cts:
    case MessageKind::fin: {
      const std::optional<Answer> answer = answer_in(header, payload, bytes);
      return answer && take_answer(sender, *answer, wakeups);
    }
    default:
      return false;
  }
}

// Where failures are survived, both ends give a message up, and neither waits until the other knows (failures.cpp).
bool Core::may_be_late() const { return survives_failures(); }

// Each send is answered once.
bool Core::take_answer(int sender, const Answer& answer, Wakeups& wakeups) {
  Request* const send = sent_.find(answer.cts.request);
  if (send == nullptr) return may_be_late();
  if (send->peer != sender) return false;
  if (answer.what == Answer::What::wanted) {
    if (answer.cts.bytes > send->capacity) return false;
    streams_.reserve();  // or the answer stays where it is
    forget_claim(*send);
    streams_.cleared(*send, answer.cts);
    wake_blocked(wakeups);
    return true;
  }
  forget_claim(*send);
  send->cancelled = answer.what == Answer::What::withdrawn;
  finish(*send, wakeups);
  return true;
}

// What comes over the network is of ranks of the job, so one of them is damaged, or another program than it says.
void Core::refuse(int sender, const Header& header, std::size_t bytes) {
  char text[200];
  std::snprintf(
      text, sizeof text,
      "rank %d has got a message that makes no sense from rank %d on another node (kind %d, %zu bytes): that rank "
      "is damaged, or a message has been lost",
      rank_.world_rank, sender, static_cast<int>(header.kind), bytes);
  boot::abort(rank_.job.get(), MPI_ERR_OTHER, text);
}

// The payload lies apart, whatever its size: where one does, drop_unexpected() tells the route.
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
  route_.note_stored(sender, bytes);
}

void Core::drop_payload(const Unexpected& message) {
  delete[] message.payload;
  if (lln::needs_credit(message.header.kind) && route_.is_remote(message.sender))
    route_.note_dropped(message.sender, message.payload_bytes);
}

}  // namespace heddle::message
