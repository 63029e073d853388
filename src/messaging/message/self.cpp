// Messages to ourselves: no network, one copy from buffer to buffer.
#include "launch/rank/rank.hpp"
#include "messaging/message/core.hpp"

namespace heddle::message {

using instruments::Count;
using instruments::count_held;
using lln::Header;
using lln::MessageKind;

void Core::send_to_self(Request& request, Wakeups& wakeups) {
  const Header header{MessageKind::eager, request.source, request.tag, request.context};
  count_held(counters_, Count::sent);
  count_held(counters_, Count::received);
  if (Request* receive = matcher_.take_receive(header)) {
    receive->source = header.source;
    receive->tag = header.tag;
    deliver_local(*receive, request, wakeups);
    return;
  }
  const bool copies =
      request.mode != static_cast<std::uint32_t>(Mode::synchronous) && request.capacity <= lln::Route::eager_bytes;
  Unexpected* message = make_unexpected(rank_.world_rank, header, copies ? request.capacity : 0);
  message->bytes = request.capacity;
  if (copies) {
    pack(*request.datatype, request.buffer, request.count, 0, message->payload, request.capacity);
    finish(request, wakeups);
  } else {
    message->local = &request;
  }
  add_unexpected(*message);
}

}  // namespace heddle::message
