// The sender's part of a message between nodes.
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "messaging/message/protocol/remote/remote.hpp"
#include "messaging/message/request_cache.hpp"

namespace heddle::message {

using instruments::Count;
using instruments::count_held;
using lln::MessageKind;
using lln::Posted;

namespace {

constexpr RequestType copy_type{
    .name = "copy of a send",
    .start = nullptr,
    .cancel = nullptr,
    .finish = nullptr,
    .destroy =
        [](Request& request) {
          delete[] static_cast<std::byte*>(request.state);
          return success;
        },
};

}  // namespace

Leaving RemoteProtocols::leaving_of(const Request& send) const {
  return plan_send(send.capacity, is_synchronous(send), parts_.outgoing.remote_eager_bytes(), sizeof(RemoteAck));
}

RemoteProtocols::Form RemoteProtocols::form_of(const Request& send, Leaving leaving) {
  Form form{{MessageKind::rts, send.source, send.tag, send.context}, sizeof(RemoteRts)};
  if (leaving == Leaving::announced) return form;
  const bool acknowledged = leaving == Leaving::acknowledged;
  form.header.kind = acknowledged ? MessageKind::eager_ack : MessageKind::eager;
  form.bytes = send.capacity + (acknowledged ? sizeof(RemoteAck) : 0);
  return form;
}

// The send's name, which its receiver returns with the answer.
std::uint64_t RemoteProtocols::name_of(Request& send) {
  if (send.send.name == 0) sent_.announce(send);
  return send.send.name;
}

void RemoteProtocols::write(Request& send, MessageKind kind, std::byte* to) {
  if (kind == MessageKind::rts) {
    const RemoteRts rts{send.capacity, name_of(send)};
    std::memcpy(to, &rts, sizeof rts);
    return;
  }
  if (kind == MessageKind::eager_ack) {
    const RemoteAck ack{name_of(send)};
    std::memcpy(to, &ack, sizeof ack);
    to += sizeof ack;
  }
  pack(*send.datatype, send.buffer, send.count, 0, to, send.capacity);
}

// Records the send before it leaves, since this may need memory.
void RemoteProtocols::note_announced(Request& send, MessageKind kind) {
  if (parts_.context.survives_failures && kind != MessageKind::eager) [[unlikely]]
    announced_.insert(&send);
}

Posted RemoteProtocols::post(Request& send, const Form& form) {
  note_announced(send, form.header.kind);
  return parts_.route.post(send.peer, form.header, form.bytes,
                           [&](std::byte* to) { write(send, form.header.kind, to); });
}

Posted RemoteProtocols::start(Request& send, Wakeups& wakeups) {
  Form form = form_of(send, leaving_of(send));
  Posted posted = post(send, form);
  if (posted == Posted::no_credit) {
    form = form_of(send, Leaving::announced);
    posted = post(send, form);
  }
  if (posted == Posted::done) note_left(send, form.header.kind, wakeups);
  return posted;
}

bool RemoteProtocols::add(lln::Packet& packet, Request& send) {
  using Added = lln::Packet::Added;
  Form form = form_of(send, leaving_of(send));
  Added added = packet.add(form.header, form.bytes);
  if (added == Added::no_credit) {
    form = form_of(send, Leaving::announced);
    added = packet.add(form.header, form.bytes);
  }
  if (added == Added::yes) note_announced(send, form.header.kind);
  return added == Added::yes;
}

// The completion is the last step: after it the thread that waits for the request may reuse it for another message.
void RemoteProtocols::note_left(Request& send, MessageKind kind, Wakeups& wakeups) {
  if (kind == MessageKind::rts && leaving_of(send) != Leaving::announced)
    count_held(parts_.counters, Count::uncredited);
  parts_.outgoing.note_left();
  if (kind != MessageKind::eager) return;
  forget(send);  // an earlier attempt to announce it, without credit, may have given it a name
  parts_.completion.finish(send, wakeups);
}

bool RemoteProtocols::waits_for_credit(const Request& send) const {
  const Leaving leaving = leaving_of(send);
  return leaving != Leaving::announced && parts_.route.waits_for_credit(send.peer, form_of(send, leaving).bytes);
}

void RemoteProtocols::forget(Request& send) {
  if (!announced_.empty()) announced_.erase(&send);
  if (send.send.name != 0) sent_.withdraw(send);
}

// ---- cancelling

bool RemoteProtocols::cancel(Request& send, Wakeups& wakeups) {
  if (!is_synchronous(send) && go_on_with_copy(send, wakeups)) return false;
  if (send.send.name != 0) send_retract(send, wakeups);  // without a name its receiver has answered
  return false;
}

// False: the network uses the program's buffer.
bool RemoteProtocols::hand_over(Request& send, Request& copy) {
  if (send.send.name == 0) return streams_.hand_over(send, copy);
  sent_.hand_over(send, copy);
  return true;
}

// False: there is no memory for the copy, or the network uses the program's buffer.
bool RemoteProtocols::go_on_with_copy(Request& send, Wakeups& wakeups) try {
  auto data = std::make_unique_for_overwrite<std::byte[]>(send.capacity);
  Request& copy = take_request();
  copy.owner = Owner::none;
  copy.vni = send.vni;
  copy.send = {};
  if (!hand_over(send, copy)) {
    (void)give_back_done(copy);
    return false;
  }
  pack(*send.datatype, send.buffer, send.count, 0, data.get(), send.capacity);
  copy.type = &copy_type;
  copy.context = send.context;
  copy.source = send.source;
  copy.tag = send.tag;
  copy.peer = send.peer;
  copy.mode = send.mode;
  copy.capacity = send.capacity;
  copy.count = static_cast<MPI_Count>(send.capacity);
  copy.datatype = predefined_datatype(MPI_BYTE);
  retain(*copy.datatype);
  copy.buffer = copy.state = data.release();
  if (auto of_send = announced_.extract(&send)) {
    of_send.value() = &copy;
    announced_.insert(std::move(of_send));
  }
  parts_.completion.finish(send, wakeups);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// The header has the envelope of the message, by which the receiver finds it.
void RemoteProtocols::send_retract(const Request& send, Wakeups& wakeups) {
  parts_.outgoing.send_away(send.peer, {MessageKind::retract, send.source, send.tag, send.context},
                            Retract{send.send.name}, wakeups);
}

}  // namespace heddle::message
