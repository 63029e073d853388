#include "messaging/message/protocol/self.hpp"

namespace heddle::message {

using instruments::Count;
using instruments::count_held;

void SelfProtocol::start(Request& send, Wakeups& wakeups) {
  const lln::Header header{lln::MessageKind::eager, send.source, send.tag, send.context};
  count_held(parts_.counters, Count::sent);
  count_held(parts_.counters, Count::received);
  if (Request* const receive = parts_.matcher.take_receive(header)) {
    receive->source = header.source;
    receive->tag = header.tag;
    return accept(*receive, send, wakeups);
  }
  const bool copies = !is_synchronous(send) && send.capacity <= longest_eager(PeerKind::self, 0);
  Unexpected& message =
      parts_.unexpected.make(Unexpected::Origin::self, parts_.context.world_rank, header, copies ? send.capacity : 0);
  message.bytes = send.capacity;
  if (copies) {
    pack(*send.datatype, send.buffer, send.count, 0, message.payload, send.capacity);
    parts_.completion.finish(send, wakeups);
  } else {
    message.local = &send;
  }
  parts_.unexpected.add(message);
}

void SelfProtocol::accept(Request& receive, Request& send, Wakeups& wakeups) {
  if (send.capacity > receive.capacity) Completion::truncate(receive, send.capacity);
  receive.bytes = copy(*send.datatype, send.buffer, send.count, *receive.datatype, receive.buffer, receive.count);
  parts_.completion.finish(send, wakeups);
  parts_.completion.finish(receive, wakeups);
}

bool SelfProtocol::cancel(const Request& send) {
  Unexpected* const message = parts_.matcher.find_unexpected_if(
      envelope_of(send), [&](const Unexpected& unexpected) { return unexpected.local == &send; });
  if (message == nullptr) return false;
  parts_.matcher.remove_unexpected(*message);
  parts_.unexpected.drop(*message);
  return true;
}

}  // namespace heddle::message
