#include "messaging/message/vni_state.hpp"

#include <mpi-ext.h>

#include <new>
#include <type_traits>

#include "base/platform/native.hpp"
#include "base/threads/thread_ref.hpp"
#include "launch/boot/peer_memory.hpp"
#include "messaging/message/packets.hpp"
#include "messaging/wake/wake.hpp"

namespace heddle::message {

using instruments::Count;
using instruments::count_held;
using lln::Header;
using lln::MessageKind;
using lln::Posted;

VniState::VniState(const Context& context, int vni, lln::Claiming claiming)
    : context_(context),
      route_(context.node, context.networks, vni, claiming, threads::user_level_possible(), counters_),
      completion_(context.wake, counters_),
      unexpected_(context.capacity, route_, matcher_, context.wake, counters_),
      outgoing_(context_, route_, counters_),
      parts_{context_, route_, completion_, matcher_, unexpected_, outgoing_, counters_},
      self_(parts_),
      local_(parts_),
      remote_(parts_),
      shortage_(context_) {}

// ---- sending

template <class Protocols>
void VniState::start(Protocols& protocols, Request& send, Wakeups& wakeups) {
  const bool waits = outgoing_.must_wait(send.peer) || is_held_back(send);
  const Posted posted = waits ? Posted::busy : protocols.start(send, wakeups);
  if (posted == Posted::done) return;
  if (posted == Posted::no_memory) return fail(send, wakeups);
  if (outgoing_.outbox().is_closed(send.peer)) return end_with(send, MPIX_ERR_PROC_FAILED, wakeups);
  outgoing_.append(send, Protocols::to_other_node, wakeups);
  // If the send that it follows has left meanwhile, no other thread sends this one.
  if (send.send.order.behind != nullptr && !is_held_back(send)) [[unlikely]]
    flush_what_has_memory(wakeups);
}

// True if a send of the same thread still waits in another VNI. The thread that sends that one then wakes one that sends this one.
bool VniState::is_held_back(const Request& send) {
  const SendOrder& order = send.send.order;
  if (order.behind == nullptr || order.behind->has_sent(order.entry)) [[likely]]
    return false;
  order.behind->followed.store(true, std::memory_order_seq_cst);  // before the load: see Outbox::note_left
  return !order.behind->has_sent(order.entry);
}

void VniState::start_send(Request& request, Wakeups& wakeups) {
  if (is_self(request)) return self_.start(request, wakeups);
  by_protocol_of(request.peer, [&](auto& protocols) { start(protocols, request, wakeups); });
}

void VniState::start_isend(Request& request, Wakeups& wakeups) {
  if (is_self(request)) return self_.start(request, wakeups);
  by_protocol_of(request.peer, [&](auto& protocols) {
    // Other threads may take an idle core at any time, for an unknown time. So no send is deferred while a thread of this rank is
    // blocked.
    if (may_be_deferred(request) && !context_.wake.any_blocked() && deferral_.available())
      return defer(protocols, request, wakeups);
    if (std::remove_reference_t<decltype(protocols)>::to_other_node && outgoing_.collects())
      return collect(request, wakeups);
    start(protocols, request, wakeups);
  });
}

// Sending an RTS costs no more than deferring it.
bool VniState::may_be_deferred(const Request& send) const {
  return deferral_.concerns(send.capacity) && send.capacity <= outgoing_.eager_limit(send.peer) &&
         !outgoing_.outbox().is_closed(send.peer);
}

template <class Protocols>
void VniState::defer(Protocols&, Request& send, Wakeups& wakeups) {
  OutboxItem& item = outgoing_.outbox().make();
  item.request = &send;
  // The core may be taken while the program computes. Between nodes a timer then sends the message.
  if (outgoing_.outbox().append(send.peer, item) && Protocols::to_other_node)
    context_.wake.on(wake::Event::packet_held);
  count_held(counters_, Count::deferred);
  // A blocking thread announces itself and then polls once more. Here the order is reversed: append, then check for blocked threads.
  platform::Native::light_fence();
  if (deferral_.blocked() || context_.wake.any_blocked()) [[unlikely]]
    context_.wake.on(wake::Event::send_deferred, wakeups);
}

// A nonblocking send to a rank on another node: it waits to share a packet if the network is busy.
void VniState::collect(Request& send, Wakeups& wakeups) {
  const bool held = outgoing_.is_held(send.peer);
  if (!held && !outgoing_.must_wait(send.peer)) return start(remote_, send, wakeups);
  if (outgoing_.outbox().is_closed(send.peer)) return end_with(send, MPIX_ERR_PROC_FAILED, wakeups);
  OutboxItem& item = outgoing_.outbox().make();
  item.request = &send;
  const bool first = outgoing_.outbox().append(send.peer, item);
  if (!held || send.capacity >= route_.alone_from()) {
    flush_what_has_memory(wakeups);
  }
  // Also for a send that the network has no room for: no blocked thread has requested notice of room for it.
  if (first && outgoing_.must_wait(send.peer)) context_.wake.on(wake::Event::packet_held);
}

VniState::LocalPackets VniState::packets_of(LocalProtocols&, int peer, Wakeups& wakeups) {
  return {*this, peer, wakeups};
}
VniState::RemotePackets VniState::packets_of(RemoteProtocols&, int peer, Wakeups& wakeups) {
  return {*this, peer, wakeups};
}

bool VniState::flush_outbox(Wakeups& wakeups) {
  const bool left = outgoing_.outbox().flush([&](const OutboxPeer& peer, auto&& send_by) {
    by_protocol_of(peer.peer, [&](auto& protocols) { send_by(packets_of(protocols, peer.peer, wakeups)); });
  });
  wake_follower(wakeups);
  return left;
}

// For a send that is in the outbox, and so has not failed: the next poll reports a shortage.
void VniState::flush_what_has_memory(Wakeups& wakeups) {
  try {
    (void)flush_outbox(wakeups);
  } catch (const std::bad_alloc&) {
  }
}

// After entries have left the outbox, or were removed: sends through other VNIs may have waited for them.
void VniState::wake_follower(Wakeups& wakeups) {
  if (outgoing_.outbox().take_followed()) [[unlikely]]
    context_.wake.on(wake::Event::followed_send_left, wakeups);
}

int VniState::slow_peer() const {
  int peer = route_.slow_peer();
  outgoing_.outbox().for_each_peer([&](const OutboxPeer& one) { peer = one.peer; });
  return peer;
}

void VniState::prepare_to_sleep() {
  route_.begin_wanting_room();
  outgoing_.outbox().for_each_peer([this](const OutboxPeer& peer) {
    const OutboxItem* const front = peer.items.empty() ? nullptr : peer.items.front();
    const bool for_credit =
        front != nullptr && front->request != nullptr &&
        by_protocol_of(peer.peer, [&](const auto& protocols) { return protocols.waits_for_credit(*front->request); });
    const bool items_want = front != nullptr && !for_credit;
    const bool longs_want =
        !peer.longs.empty() && remote_.streams().wants_room(*peer.longs.first(), outgoing_.outbox().pieces_ahead());
    if (items_want || longs_want) route_.want_room(peer.peer);
  });
  route_.arm();
}

// ---- receiving

// Inlined into its callers: this is the path of a short message.
[[gnu::always_inline]] inline void VniState::receive_eager(Request& request, Unexpected& message, Wakeups& wakeups) {
  request.source = message.header.source;
  request.tag = message.header.tag;
  completion_.deliver(request, message.payload, message.payload_bytes, wakeups);
  unexpected_.drop(message);
}

namespace {

bool is_announced(const Unexpected& message) {
  return message.header.kind != MessageKind::eager || message.local != nullptr;
}

}  // namespace

void VniState::start_matched_recv(Request& request, Unexpected& message, Wakeups& wakeups) {
  if (!is_announced(message)) return receive_eager(request, message, wakeups);
  reserve();
  receive_announced(request, message, wakeups);
}

void VniState::start_unexpected_recv(Request& request, Unexpected& message, Wakeups& wakeups) {
  const bool announced = is_announced(message);
  if (announced) [[unlikely]]
    reserve();
  matcher_.remove_unexpected(message);
  if (announced) [[unlikely]]
    return receive_announced(request, message, wakeups);
  receive_eager(request, message, wakeups);
}

void VniState::match_announced(const Request& announced, Hash hash, Wakeups& wakeups) {
  matcher_.match_announced(announced, hash, [&](Request& request, Unexpected& message) {
    try {
      start_unexpected_recv(request, message, wakeups);
    } catch (const std::bad_alloc&) {
      fail(request, wakeups);
    }
  });
}

// Allocates the memory that concluding a match may need. It is called before a message or a receive leaves its queue, so that none is
// lost when memory is short.
void VniState::reserve() {
  local_.reserve();
  if (context_.networks != nullptr) remote_.reserve();
}

// True: the receiver owns the unexpected message from here on. False: the sender has withdrawn it, and the caller drops it.
bool VniState::claim(Unexpected& message) {
  return message.origin != Unexpected::Origin::this_node || local_.claim(message);
}
bool VniState::is_withdrawn(const Unexpected& message) {
  return message.origin == Unexpected::Origin::this_node && local_.is_withdrawn(message);
}

// If the sender has withdrawn the message, takes the next one that fits, or posts the receive.
void VniState::receive_announced(Request& request, Unexpected& first, Wakeups& wakeups) {
  Unexpected* message = &first;
  while (!claim(*message)) {
    unexpected_.drop(*message);
    message = matcher_.find_unexpected(request.context, request.source, request.tag);
    if (message == nullptr) return matcher_.post(request);
    matcher_.remove_unexpected(*message);
  }
  request.source = message->header.source;
  request.tag = message->header.tag;
  switch (message->origin) {
    case Unexpected::Origin::self:
      if (message->local != nullptr)
        self_.accept(request, *message->local, wakeups);
      else
        completion_.deliver(request, message->payload, message->payload_bytes, wakeups);
      break;
    case Unexpected::Origin::this_node:
      local_.accept(request, *message, wakeups);
      break;
    case Unexpected::Origin::other_node:
      remote_.accept(request, *message, wakeups);
      break;
  }
  unexpected_.drop(*message);
}

// Finds a message that its sender has not withdrawn. `message` is the oldest that fits.
Unexpected* VniState::found(Unexpected* message, const Envelope& asked, bool take) {
  for (; message != nullptr; message = matcher_.find_unexpected(asked.context, asked.source, asked.tag)) {
    const bool there = take ? claim(*message) : !is_withdrawn(*message);
    if (there && !take) return message;
    matcher_.remove_unexpected(*message);
    if (there) return message;
    unexpected_.drop(*message);
  }
  return nullptr;
}

// ---- arrival

[[gnu::always_inline]] inline void VniState::arrive(int sender, const Header& header, const std::byte* payload,
                                                    std::size_t bytes, Wakeups& wakeups) {
  Request* const receive = matcher_.take_receive(header);
  if (receive == nullptr) [[unlikely]] {
    if (header.kind != MessageKind::eager) return local_.keep(sender, header, payload, bytes);
    return unexpected_.keep(Unexpected::Origin::this_node, sender, header, payload, bytes, bytes);
  }
  if (header.kind == MessageKind::eager) [[likely]] {
    receive->source = header.source;
    receive->tag = header.tag;
    completion_.deliver(*receive, payload, bytes, wakeups);
  } else {
    local_.on_message(*receive, sender, header, payload, bytes, wakeups);
  }
}

[[gnu::noinline]] void VniState::arrive_with_stamp(int sender, Header header, const std::byte* payload,
                                                   std::size_t bytes, Wakeups& wakeups) {
  header.kind = lln::without_stamp(header.kind);
  bytes -= sizeof(std::uint64_t);
  unexpected_.note_stamp(sender, first_of<std::uint64_t>(payload + bytes));
  arrive(sender, header, payload, bytes, wakeups);
}

bool VniState::take_all(std::uint64_t context, bool begins, lln::FunctionRef<void(Unexpected&)> take,
                        Wakeups& wakeups) {
  if (begins) route_.look_for_noted();
  (void)drain(everything, wakeups);
  while (Unexpected* const message = probe(context, MPI_ANY_SOURCE, MPI_ANY_TAG, true)) take(*message);
  return route_.has_taken_noted();
}

// Its gate is closed first, as for a message that arrives. No receive fits: it would have taken the message on arrival.
void VniState::put_back(Unexpected& message) {
  if (Request* const receive = matcher_.take_receive(message.header)) matcher_.put_back(*receive);
  matcher_.add_unexpected(message);
}

bool VniState::drain(int most, Wakeups& wakeups) {
  bool moved = false;
  if (outgoing_.outbox().any()) [[unlikely]]
    moved = flush_outbox(wakeups);
  // A thread that is about to block may have requested notice of room before these messages were added.
  if (moved && context_.networks != nullptr && outgoing_.outbox().any()) [[unlikely]]
    context_.wake.on(wake::Event::rest_without_room, wakeups);
  int control = 0;
  const auto sink = [&](int sender, const Header& header, const std::byte* payload, std::size_t bytes) {
    if (header.kind <= MessageKind::rts) [[likely]]
      return arrive(sender, header, payload, bytes, wakeups);
    if (lln::has_stamp(header.kind)) [[unlikely]]
      return arrive_with_stamp(sender, header, payload, bytes, wakeups);
    ++control;
    local_.on_control(sender, header, payload, wakeups);
  };
  const auto remote_sink = [&](int sender, const Header& header, const std::byte* payload, std::size_t bytes) {
    if (header.kind <= MessageKind::rts) return remote_.arrive(sender, header, payload, bytes, wakeups);
    ++control;
    remote_.on_control(sender, header, payload, bytes, wakeups);
  };
  const int messages = route_.poll(most, sink, remote_sink, moved);
  // Sends the answers to these messages together.
  if (outgoing_.collects() && messages != 0 && outgoing_.outbox().any()) [[unlikely]]
    moved |= flush_outbox(wakeups);
  count_held(counters_, Count::received, static_cast<std::uint64_t>(messages - control));
  count_held(counters_, Count::polls);
  if (messages == 0) count_held(counters_, Count::empty_polls);
  return moved || messages != 0;
}

}  // namespace heddle::message
