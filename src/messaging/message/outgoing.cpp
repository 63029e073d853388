#include "messaging/message/outgoing.hpp"

#include <algorithm>
#include <cstring>

#include "launch/boot/peer_memory.hpp"
#include "messaging/message/outbox/strategy.hpp"
#include "messaging/wake/wake.hpp"

namespace heddle::message {

static_assert(node_eager_bytes == lln::Route::eager_bytes);

using instruments::count;
using instruments::Count;
using lln::Header;
using lln::Posted;

Outgoing::Outgoing(const Context& context, lln::Route& route, instruments::Counters& counters)
    : context_(context),
      route_(route),
      counters_(counters),
      outbox_(context.capacity, make_strategy(strategy_name(context.strategy))),
      collects_(context.networks != nullptr && outbox_.collects()) {}

std::size_t Outgoing::remote_eager_bytes() const {
  const std::size_t longest = route_.remote_eager_bytes();
  return outbox_.pieces_ahead() == 0 ? longest : std::min(longest, Strategy::counted_piece);
}

std::size_t Outgoing::local_eager_limit(int peer) const {
  return longest_eager(context_.peer_memory.same_space(peer) ? PeerKind::same_process : PeerKind::same_node, 0);
}
std::size_t Outgoing::eager_limit(int peer) const {
  return route_.is_remote(peer) ? longest_eager(PeerKind::other_node, remote_eager_bytes()) : local_eager_limit(peer);
}

// Out of line, with a copy of the arguments, so that shorter messages keep theirs in registers.
[[gnu::noinline]] bool Outgoing::post_in_parts(SendArgs args) {
  const auto part = [&](std::byte* to, std::size_t from, std::size_t n) {
    pack(args.datatype, args.buffer, args.count, from, to, n);
  };
  if (route_.post_in_parts(args.peer, args.header, args.bytes, part) != Posted::done) return false;
  note_left();
  return true;
}

// Checks the lowest of all limits first.
template <class User>
[[gnu::always_inline]] inline bool Outgoing::post(const SendArgs& args, User) {
  if (args.bytes > near_eager_bytes && args.bytes > eager_limit(args.peer)) return false;
  if (must_wait(args.peer)) [[unlikely]]
    return false;  // earlier messages to this peer wait: keep the order
  if (args.bytes >= lln::Route::in_parts_from) [[unlikely]]
    return post_in_parts(args);
  const auto data = [&](std::byte* to) { pack(args.datatype, args.buffer, args.count, 0, to, args.bytes); };
  if (route_.post(args.peer, args.header, args.bytes, data) != Posted::done) return false;
  note_left();
  return true;
}

bool Outgoing::try_send(const SendArgs& args) {
  return post(args, [] {});
}
bool Outgoing::try_isend(const SendArgs& args) {
  if (collects_ && route_.is_remote(args.peer) && is_held(args.peer)) [[unlikely]]
    return false;
  return post(args, [] {});
}

bool Outgoing::inject(const SendArgs& args) {
  if (args.bytes > lln::Route::inject_bytes || must_wait(args.peer)) [[unlikely]]
    return false;
  const auto data = [&](std::byte* to) { pack(args.datatype, args.buffer, args.count, 0, to, args.bytes); };
  if (route_.inject(args.peer, args.header, args.bytes, data) != Posted::done) return false;
  count(counters_, Count::sent);
  return true;
}

bool Outgoing::send_stamped(const SendArgs& args, std::uint64_t stamp, bool concurrently) {
  const std::size_t bytes = args.bytes + sizeof stamp;
  if (bytes > (concurrently ? lln::Route::inject_bytes : local_eager_limit(args.peer)) || must_wait(args.peer))
    return false;
  lln::Header header = args.header;
  header.kind = lln::with_stamp(header.kind);
  const auto fill = [&](std::byte* to) {
    pack(args.datatype, args.buffer, args.count, 0, to, args.bytes);
    std::memcpy(to + args.bytes, &stamp, sizeof stamp);
  };
  if (concurrently) {
    if (route_.inject(args.peer, header, bytes, fill) != Posted::done) return false;
    count(counters_, Count::sent);
  } else {
    if (route_.post(args.peer, header, bytes, fill) != Posted::done) return false;
    note_left();
  }
  return true;
}

bool Outgoing::send_by_flux(const SendArgs& args) {
  if (args.bytes > lln::Route::flux_bytes || must_wait(args.peer)) return false;
  const auto data = [&](std::byte* to) { pack(args.datatype, args.buffer, args.count, 0, to, args.bytes); };
  if (!route_.send_by_flux(args.peer, args.header, args.bytes, data)) return false;
  count(counters_, Count::sent);
  return true;
}

// ---- control messages

OutboxItem& Outgoing::make_control(const Header& header, const void* payload, std::size_t bytes) {
  OutboxItem& item = outbox_.make();
  item.header = header;
  item.bytes = bytes;
  std::memcpy(item.payload, payload, bytes);
  return item;
}

void Outgoing::send_here(int peer, const Header& header, const void* payload, std::size_t bytes, Wakeups& wakeups) {
  if (outbox_.is_closed(peer)) return;
  const auto fill = [&](std::byte* to) { std::memcpy(to, payload, bytes); };
  if (!must_wait(peer) && route_.post(peer, header, bytes, fill) == Posted::done) return;
  append(peer, make_control(header, payload, bytes), false, wakeups);
}

void Outgoing::send_bytes_away(int peer, const Header& header, const void* payload, std::size_t bytes,
                               Wakeups& wakeups) {
  if (outbox_.is_closed(peer)) return;
  if (collects_ && route_.is_busy(peer) && outbox_.holds(peer)) {
    if (outbox_.append(peer, make_control(header, payload, bytes))) context_.wake.on(wake::Event::packet_held);
    return;
  }
  const auto fill = [&](std::byte* to) { std::memcpy(to, payload, bytes); };
  if (!must_wait(peer) && route_.post(peer, header, bytes, fill) == Posted::done) return;
  append(peer, make_control(header, payload, bytes), true, wakeups);
}

// ---- messages that wait

void Outgoing::append(Request& send, bool to_other_node, Wakeups& wakeups) {
  OutboxItem& item = outbox_.make();
  item.request = &send;
  append(send.peer, item, to_other_node, wakeups);
}

// A blocked thread requests notice of room. If no thread is blocked, the program may be computing; then a timer sends to another node.
void Outgoing::append(int peer, OutboxItem& item, bool to_other_node, Wakeups& wakeups) {
  if (!outbox_.append(peer, item)) return;
  if (to_other_node) {
    context_.wake.on(wake::Event::send_without_room_away, wakeups);
  } else {
    context_.wake.on(wake::Event::send_without_room, wakeups);
  }
}

}  // namespace heddle::message
