#include "messaging/message/core.hpp"

#include <mpi-ext.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "base/progress/idle_cores.hpp"
#include "base/threads/thread_ref.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/message/request_cache.hpp"
#include "objects/object/error.hpp"

namespace heddle::message {

using instruments::count;
using instruments::Count;
using instruments::count_held;
using lln::Header;
using lln::MessageKind;
using lln::Posted;

namespace {

void truncate(Request& receive, std::size_t message_bytes) {
  receive.error = MPI_ERR_TRUNCATE;
  receive.order = message_bytes;
}

}  // namespace

Core::Core(Rank& rank, int vni, lln::Claiming claiming)
    : rank_(rank),
      route_(*rank.node, rank.networks.get(), vni, claiming, threads::user_level_possible(), counters_),
      transfers_(*this, rank.world_rank, rank.machine.oversubscribed),
      streams_(*this),
      claims_(rank.node->heap()),
      outbox_(rank.job->capacity(), make_strategy(strategy_name(rank.strategies[static_cast<std::size_t>(vni)]))),
      collects_(rank.networks && outbox_.collects()) {
  rank_.counter_registry.enter(vni, counters_);
  end_deferring();
}

void Core::open_network(int vni) {
  if (rank_.networks) route_.open(*rank_.networks, vni);
}

Core::~Core() {
  rank_.counter_registry.leave(counters_);
  while (Unexpected* m = free_unexpected_) {
    free_unexpected_ = m->next;
    delete m;
  }
}

void Core::tell(Request& request, std::uint32_t done, Wakeups& wakeups) {
  if (request.owner == Owner::library) wake_blocked(wakeups);
  tell_waiter(request, done, wakeups);
}

[[gnu::noinline]] void Core::finish_unwatched(Request& request, Wakeups& wakeups) {
  if (request.owner == Owner::library) return tell(request, 1, wakeups);
  (void)give_back_done(request);  // its operation is over, and there is no call to tell an error
}

bool Core::survives_failures() const { return rank_.faults != nullptr; }

boot::PeerMemory& Core::peer_memory() { return rank_.peer_memory; }

// ---- sending

std::size_t Core::longest_away() const {
  const std::size_t longest = route_.remote_eager_bytes();
  return outbox_.pieces_ahead() == 0 ? longest : std::min(longest, Strategy::counted_piece);
}

std::size_t Core::eager_limit(int peer) const {
  if (route_.is_remote(peer)) return longest_away();
  return rank_.peer_memory.same_space(peer) ? near_eager_bytes : lln::Route::eager_bytes;
}

// Out of line, with arguments of its own: what is shorter keeps them in registers.
[[gnu::noinline]] bool Core::post_in_parts(SendArgs args) {
  const auto part = [&](std::byte* to, std::size_t from, std::size_t n) {
    pack(args.datatype, args.buffer, args.count, from, to, n);
  };
  return route_.post_in_parts(args.peer, args.header, args.bytes, part) == Posted::done && left(args.peer);
}

// The first limit is that of near peers, and a far one's may be another. A template: the two that use it, each with a type of its own, have
// a copy each of what they call.
template <class User>
[[gnu::always_inline]] inline bool Core::post(const SendArgs& args, User) {
  if (args.bytes > near_eager_bytes && args.bytes > eager_limit(args.peer)) return false;
  if (must_wait(args.peer)) [[unlikely]]
    return false;  // others to this peer wait: stay in order
  if (args.bytes >= lln::Route::in_parts_from) [[unlikely]]
    return post_in_parts(args);
  const auto data = [&](std::byte* to) { pack(args.datatype, args.buffer, args.count, 0, to, args.bytes); };
  return route_.post(args.peer, args.header, args.bytes, data) == Posted::done && left(args.peer);
}

[[gnu::cold, gnu::noinline]] void Core::count_sent(instruments::Cell& cell, int peer) {
  cell.add(Count::sent);
  if (route_.is_remote(peer)) cell.add(Count::sent_away);
}

bool Core::try_send(const SendArgs& args) {
  return post(args, [] {});
}
bool Core::try_isend(const SendArgs& args) {
  if (collects_ && route_.is_remote(args.peer) && is_held(args.peer)) [[unlikely]]
    return false;
  return post(args, [] {});
}

bool Core::inject(const SendArgs& args) {
  if (args.bytes > lln::Route::inject_bytes || must_wait(args.peer)) [[unlikely]]
    return false;
  const auto data = [&](std::byte* to) { pack(args.datatype, args.buffer, args.count, 0, to, args.bytes); };
  if (route_.inject(args.peer, args.header, args.bytes, data) != Posted::done) return false;
  count(counters_, Count::sent);
  return true;
}

bool Core::send_by_flux(const SendArgs& args) {
  if (args.bytes > lln::Route::flux_bytes || must_wait(args.peer)) return false;
  const auto data = [&](std::byte* to) { pack(args.datatype, args.buffer, args.count, 0, to, args.bytes); };
  if (!route_.send_by_flux(args.peer, args.header, args.bytes, data)) return false;
  count(counters_, Count::sent);
  return true;
}

void Core::start_send(Request& request, Wakeups& wakeups) {
  if (request.peer == rank_.world_rank) {
    send_to_self(request, wakeups);
    return;
  }
  const Posted posted = must_wait(request.peer) ? Posted::busy : post_request(request, wakeups);
  if (posted == Posted::done) return;
  if (posted == Posted::no_memory) return fail(request, wakeups);
  if (outbox_.is_closed(request.peer)) return end_with(request, MPIX_ERR_PROC_FAILED, wakeups);
  OutboxItem& item = outbox_.make();
  item.request = &request;
  append(request.peer, item, wakeups);
}

// Also of a send that finds no room in the segment for the first channel to the peer.
void Core::fail(Request& request, Wakeups& wakeups) { end_with(request, MPI_ERR_NO_MEM, wakeups); }

void Core::fetch_to_leave(const Request& request) const {
  if (!is_left_to_idle_cores(request.capacity)) return;
  idle_cores_->fetch_for_question();
  outbox_.fetch_for_append(request.peer);
}

// An idle core may be taken by anybody at any time, and nobody knows for how long. So a thread of this rank that sleeps until
// something moves does not depend on one.
void Core::start_isend(Request& request, Wakeups& wakeups) {
  if (!may_be_deferred(request) || own_bell().any_thread_sleeps() || !idle_cores_->available())
    return collects(request.peer) ? collect(request, wakeups) : start_send(request, wakeups);
  OutboxItem& item = outbox_.make();
  item.request = &request;
  // Between nodes it is looked after, too, should that core be taken and the program compute.
  if (outbox_.append(request.peer, item) && route_.is_remote(request.peer)) route_.schedule_sending();
  count_held(counters_, Count::deferred);
  // Whoever goes to sleep says so and then looks around once more; here it is the other way round.
  platform::Native::light_fence();
  if (idle_cores_->blocked() || own_bell().any_thread_sleeps()) [[unlikely]]
    wake_blocked(wakeups);
}

// A long message announces itself, which costs no more than to defer it.
bool Core::may_be_deferred(const Request& request) const {
  return request.capacity >= deferred_from_ && request.capacity <= eager_limit(request.peer) &&
         request.peer != rank_.world_rank && !outbox_.is_closed(request.peer);
}

void Core::begin_deferring(std::size_t from, progress::IdleCores& idle_cores) {
  idle_cores_ = &idle_cores;
  deferred_from_ = from;
}

void Core::end_deferring() {
  deferred_from_ = std::numeric_limits<std::size_t>::max();
  idle_cores_ = nullptr;
}

void Core::send_control(int peer, const Header& header, const void* payload, std::size_t bytes, Wakeups& wakeups) {
  if (outbox_.is_closed(peer)) return;  // it has failed
  const bool held = collects(peer) && route_.is_busy(peer) && outbox_.holds(peer);
  if (!held && !must_wait(peer)) {
    const auto fill = [&](std::byte* to) { std::memcpy(to, payload, bytes); };
    if (route_.post(peer, header, bytes, fill) == Posted::done) return;
  }
  OutboxItem& item = outbox_.make();
  item.header = header;
  item.bytes = bytes;
  std::memcpy(item.payload, payload, bytes);
  if (!held) return append(peer, item, wakeups);
  if (outbox_.append(peer, item)) route_.schedule_sending();
}

// What has found no room. A thread that sleeps asks for some; if none does, the program may compute now, and what waits for another node is
// looked after.
void Core::append(int peer, OutboxItem& item, Wakeups& wakeups) {
  if (!outbox_.append(peer, item)) return;
  wake_blocked(wakeups);
  if (route_.is_remote(peer)) route_.schedule_sending();
}

void Core::prepare_to_sleep() {
  route_.begin_wanting_room();
  if (outbox_.any()) {
    outbox_.for_each_peer([this](const OutboxPeer& peer) {
      const bool items_want = !peer.items.empty() && !waits_for_credit(*peer.items.front());
      const bool longs_want = !peer.longs.empty() && streams_.wants_room(*peer.longs.first(), outbox_.pieces_ahead());
      if (items_want || longs_want) route_.want_room(peer.peer);
    });
  }
  route_.arm();
}

// ---- receiving

// The path of a short message that has met its receive, in one piece.
[[gnu::always_inline]] inline void Core::fill(Request& receive, const std::byte* payload, std::size_t bytes,
                                              Wakeups& wakeups) {
  if (bytes > receive.capacity) [[unlikely]] {
    truncate(receive, bytes);
    bytes = receive.capacity;
  }
  receive.bytes = bytes;
  unpack(*receive.datatype, receive.buffer, receive.count, 0, payload, bytes);
  finish(receive, wakeups);
}

inline void Core::receive_eager(Request& request, Unexpected& message, Wakeups& wakeups) {
  request.source = message.header.source;
  request.tag = message.header.tag;
  fill(request, message.payload, message.payload_bytes, wakeups);
  drop_unexpected(message);
}

bool Core::is_rts(const Unexpected& message) {
  return message.header.kind != MessageKind::eager || message.local != nullptr;
}

void Core::start_matched_recv(Request& request, Unexpected& message, Wakeups& wakeups) {
  if (!is_rts(message)) return receive_eager(request, message, wakeups);
  reserve();
  start_rts_recv(request, message, wakeups);
}

void Core::start_unexpected_recv(Request& request, Unexpected& message, Wakeups& wakeups) {
  const bool offered = is_rts(message);
  if (offered) [[unlikely]]
    reserve();
  matcher_.remove_unexpected(message);
  if (offered) [[unlikely]]
    return start_rts_recv(request, message, wakeups);
  receive_eager(request, message, wakeups);
}

void Core::match_announced(const Request& announced, Hash hash, Wakeups& wakeups) {
  matcher_.match_announced(announced, hash, [&](Request& request, Unexpected& message) {
    try {
      start_unexpected_recv(request, message, wakeups);
    } catch (const std::bad_alloc&) {
      fail(request, wakeups);
    }
  });
}

// What a match may need to be concluded. Nothing that has been taken from a queue is lost for want of memory: there is some before it is
// taken.
void Core::reserve() {
  transfers_.reserve();
  if (rank_.networks) streams_.reserve();
  outbox_.reserve();
}

// ---- arrival

[[gnu::always_inline]] inline void Core::arrive(int sender, const Header& header, const std::byte* payload,
                                                std::size_t bytes, Wakeups& wakeups) {
  Request* const receive = matcher_.take_receive(header);
  if (receive == nullptr) [[unlikely]]
    return keep(sender, header, payload, bytes);
  if (header.kind == MessageKind::eager) [[likely]] {
    receive->source = header.source;
    receive->tag = header.tag;
    fill(*receive, payload, bytes, wakeups);
  } else {
    deliver_rts(*receive, sender, header, payload, bytes, wakeups);
  }
}

bool Core::drain(int most, Wakeups& wakeups) {
  bool moved = false;
  if (outbox_.any()) [[unlikely]]
    moved = flush_outbox(wakeups);
  // Who is about to sleep may have asked for room before this was left.
  if (moved && rank_.networks && outbox_.any()) [[unlikely]]
    wake_blocked(wakeups);
  int control = 0;
  const auto sink = [&](int sender, const Header& header, const std::byte* payload, std::size_t bytes) {
    if (header.kind <= MessageKind::rts) [[likely]]
      return arrive(sender, header, payload, bytes, wakeups);
    ++control;
    arrive_control(sender, header, payload, wakeups);
  };
  const auto remote_sink = [&](int sender, const Header& header, const std::byte* payload, std::size_t bytes) {
    if (header.kind <= MessageKind::rts) return arrive_remote(sender, header, payload, bytes, wakeups);
    ++control;
    arrive_remote_control(sender, header, payload, bytes, wakeups);
  };
  const int messages = route_.poll(most, sink, remote_sink, moved);
  // Answers to what has come go together.
  if (collects_ && messages != 0 && outbox_.any()) [[unlikely]]
    moved |= flush_outbox(wakeups);
  count_held(counters_, Count::received, static_cast<std::uint64_t>(messages - control));
  count_held(counters_, Count::polls);
  if (messages == 0) count_held(counters_, Count::empty_polls);
  return moved || messages != 0;
}

// Of a peer of this node, whose word is trusted: it shares memory with us.
void Core::arrive_control(int sender, const Header& header, const std::byte* payload, Wakeups& wakeups) {
  if (outbox_.is_closed(sender)) return;  // what it speaks of has ended
  if (header.kind == MessageKind::cts) {
    Cts cts;
    std::memcpy(&cts, payload, sizeof cts);
    return transfers_.cleared(sender, cts, wakeups);
  }
  std::uint64_t name;
  std::memcpy(&name, payload, sizeof name);
  transfers_.join_chunks();
  Request& request = *reinterpret_cast<Request*>(name);
  forget_claim(request);
  finish(request, wakeups);
}

// A message, or the RTS of one, has met its receive.
void Core::deliver(Request& receive, int sender, const Header& header, const std::byte* payload, std::size_t bytes,
                   Wakeups& wakeups) {
  if (header.kind == MessageKind::rts) {
    Rts rts;
    std::memcpy(&rts, payload, sizeof rts);
    if (outbox_.is_closed(sender)) {
      transfers_.decline(rts);
      return end_with(receive, MPIX_ERR_PROC_FAILED, wakeups);
    }
    take_word_back(receive);  // while its data come it is not done, and no sweep sees it among the posted ones
    if (rts.bytes > receive.capacity) truncate(receive, rts.bytes);
    receive.bytes = std::min<std::size_t>(rts.bytes, receive.capacity);
    if (route_.is_remote(sender)) return streams_.accept(receive, sender, rts, wakeups);
    return transfers_.accept(receive, sender, rts, wakeups);
  }
  if (header.kind == MessageKind::eager_ack) {
    const Header fin{MessageKind::fin, 0, 0, 0};
    send_control(sender, fin, payload, sizeof(std::uint64_t), wakeups);  // the request is what it begins with
    payload += sizeof(Acknowledged);
    bytes -= sizeof(Acknowledged);
  }
  fill(receive, payload, bytes, wakeups);
}

// A message to ourselves has met its receive.
void Core::deliver_local(Request& receive, Request& send, Wakeups& wakeups) {
  if (send.capacity > receive.capacity) truncate(receive, send.capacity);
  receive.bytes = copy(*send.datatype, send.buffer, send.count, *receive.datatype, receive.buffer, receive.count);
  finish(send, wakeups);
  finish(receive, wakeups);
}

// The waiter is where its counter says, or on the rank's doorbell if it is the server: that one is rung whenever the last
// event has come and nobody sleeps on the counter.
void Core::signal(Waiter& waiter, Wakeups& wakeups) {
  switch (waiter.arrive()) {
    case sync::Arrival::more_to_come:
      break;
    case sync::Arrival::last_blocked:
      wakeups.add(waiter);
      count_held(counters_, Count::wakeups);
      break;
    case sync::Arrival::last_spinning:
      wake_blocked();
      break;
  }
}

// ---- long messages

void Core::end_transfer(Transfer& transfer, Wakeups& wakeups) {
  using Role = Transfer::Role;
  const bool receives = transfer.role != Role::split_writer && transfer.role != Role::packer;
  if (receives && (!transfer.eagerly || transfer.taken)) {
    const Header fin{MessageKind::fin, 0, 0, 0};
    send_control(transfer.peer, fin, &transfer.sender_request, sizeof transfer.sender_request, wakeups);
  }
  if (receives) transfers_.learn(transfer);
  if (!receives && transfer.eagerly) claims_.leave(transfer.claim);
  // Else the sender is only a helper: its request finishes when the receiver says so (FIN).
  if (receives || (transfer.eagerly && transfer.position == transfer.bytes)) {
    forget_claim(*transfer.request);
    finish(*transfer.request, wakeups);
  }
  transfers_.retire(transfer);
}

// ---- unexpected messages

Unexpected* Core::make_unexpected(int sender, const Header& header, std::size_t payload_bytes) {
  std::byte* large = nullptr;
  try {
    if (free_unexpected_ == nullptr) free_unexpected_ = new Unexpected;
    if (payload_bytes > sizeof Unexpected::storage) large = new std::byte[payload_bytes];
  } catch (const std::bad_alloc&) {
    matcher_.forget(header);
    throw;
  }
  Unexpected* const message = free_unexpected_;
  free_unexpected_ = message->next;
  message->header = header;
  message->sender = sender;
  message->local = nullptr;
  message->received = false;
  message->payload_bytes = payload_bytes;
  message->payload = large != nullptr ? large : message->storage;
  return message;
}

void Core::drop_unexpected(Unexpected& message) {
  if (message.payload != message.storage) drop_payload(message);
  message.next = free_unexpected_;
  free_unexpected_ = &message;
}

// A message whose receive has not been posted.
void Core::keep(int sender, const Header& header, const std::byte* payload, std::size_t bytes) {
  Unexpected* message = make_unexpected(sender, header, bytes);
  std::copy_n(payload, bytes, message->payload);
  message->bytes = bytes;
  if (header.kind == MessageKind::eager_ack) {
    message->bytes -= sizeof(Acknowledged);
  } else if (header.kind == MessageKind::rts) {
    Rts rts;
    std::memcpy(&rts, payload, sizeof rts);
    message->bytes = rts.bytes;
  }
  add_unexpected(*message);
}

// A probe that sleeps is told of every message that it might look for.
void Core::add_unexpected(Unexpected& message) {
  count_held(counters_, Count::unexpected);
  matcher_.add_unexpected(message);
  if (probers.load(std::memory_order_relaxed) != 0) [[unlikely]]
    own_bell().ring();
}

}  // namespace heddle::message
