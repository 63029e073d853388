// How a send leaves, alone or with others in a packet: in the form that its size, its mode and the credit at its receiver permit.
#include <mpi-ext.h>

#include <cstring>
#include <new>

#include "base/instruments/ticks.hpp"
#include "base/progress/idle_cores.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/message/core.hpp"

namespace heddle::message {

using instruments::Count;
using instruments::count_held;
using lln::MessageKind;
using lln::Posted;

namespace {

// Messages of a VNI that have gone eagerly and that their receivers have not taken.
constexpr std::size_t most_unread = 16;

// An item's payload, for what is no send.
void copy_payload(const OutboxItem& item, std::byte* to) { std::memcpy(to, item.payload, item.bytes); }

}  // namespace

bool Core::goes_eagerly(const Request& send) const {
  const std::size_t head = is_synchronous(send) ? sizeof(Acknowledged) : 0;
  return send.capacity + head <= eager_limit(send.peer);
}

bool Core::waits_for_credit(const OutboxItem& item) const {
  const Request* const send = item.request;
  return send != nullptr && route_.is_remote(send->peer) && goes_eagerly(*send) &&
         route_.waits_for_credit(send->peer, form_of(*send, true).bytes);
}

bool Core::is_synchronous(const Request& send) { return send.mode == static_cast<std::uint32_t>(Mode::synchronous); }

// Unasked, its data with it; or announced (RTS).
Core::Form Core::form_of(const Request& send, bool eagerly) {
  Form form{{MessageKind::rts, send.source, send.tag, send.context}, sizeof(Rts)};
  if (!eagerly) return form;
  form.header.kind = is_synchronous(send) ? MessageKind::eager_ack : MessageKind::eager;
  form.bytes = send.capacity + (is_synchronous(send) ? sizeof(Acknowledged) : 0);
  return form;
}

void Core::write(Request& send, MessageKind kind, std::byte* to) {
  if (kind == MessageKind::rts) {
    const Rts rts = rts_of(send);
    std::memcpy(to, &rts, sizeof rts);
    return;
  }
  if (kind == MessageKind::eager_ack) {
    const Acknowledged acknowledged{name_for_receiver(send), claim_for_receiver(send)};
    std::memcpy(to, &acknowledged, sizeof acknowledged);
    to += sizeof acknowledged;
  }
  pack(*send.datatype, send.buffer, send.count, 0, to, send.capacity);
}

Rts Core::rts_of(Request& send) {
  return {send.capacity, name_for_receiver(send), 0, claim_for_receiver(send), {}, node::nowhere};
}

// Whether its sender may have done with it before it is received, and gains by that.
bool Core::may_leave_early(const Request& send) {
  const auto mode = static_cast<Mode>(send.mode);
  return mode != Mode::synchronous && mode != Mode::buffered;
}

// Within a node: how the data could come the receiver learns, too, and where they do come, if they go eagerly. What has not left keeps no stage.
Posted Core::post_rts_here(Request& send, const lln::Header& header, Wakeups& wakeups) {
  Rts rts = rts_of(send);
  if (is_run(*send.datatype, send.count)) rts.address = reinterpret_cast<std::uint64_t>(run_of(send));
  rts.wishes = transfers_.wishes(send.peer, send.capacity);
  if (send.order != node::nowhere && may_leave_early(send) &&
      claims_.unread() + transfers_.packed_eagerly() < most_unread)
    rts.stage = transfers_.offer(send);
  const Posted posted =
      route_.post(send.peer, header, sizeof rts, [&](std::byte* to) { std::memcpy(to, &rts, sizeof rts); });
  if (rts.stage == node::nowhere) {
    transfers_.note_sent();
    return posted;
  }
  if (posted == Posted::done)
    transfers_.begin(send, rts.stage, wakeups);
  else
    transfers_.take_back(send.peer, rts.stage);
  return posted;
}

// It gets the word that it can be taken back by, and is kept in mind where its receiver may fail.
void Core::announce(Request& send) {
  if (rank_.faults) announced_.insert(&send);
  send.order = claims_.make();
}

// What the receiver gives back with its answer: within a node an address, to another one a name.
std::uint64_t Core::name_for_receiver(Request& send) {
  if (!route_.is_remote(send.peer)) return reinterpret_cast<std::uint64_t>(&send);
  if (send.order == 0) sent_.announce(send);
  return send.order;
}

node::Offset Core::claim_for_receiver(const Request& send) const {
  return route_.is_remote(send.peer) ? node::nowhere : send.order;
}

// In this form it has left. Last: who waits for the request may take it for another message once it is finished.
void Core::has_left(Request& send, MessageKind kind, Wakeups& wakeups) {
  if (kind == MessageKind::rts && goes_eagerly(send)) count_held(counters_, Count::uncredited);
  (void)left(send.peer);
  if (kind != MessageKind::eager) return;
  forget_claim(send);  // an attempt to announce it, for want of credit, may have given it a name
  finish(send, wakeups);
}

// To another node: it is kept in mind before it leaves, where there may be no memory for that.
void Core::note_announced(Request& send, MessageKind kind) {
  if (rank_.faults && kind != MessageKind::eager && route_.is_remote(send.peer)) [[unlikely]]
    announced_.insert(&send);
}

Posted Core::post_as(Request& send, const Form& form) {
  note_announced(send, form.header.kind);
  return route_.post(send.peer, form.header, form.bytes, [&](std::byte* to) { write(send, form.header.kind, to); });
}

Posted Core::post_request(Request& send, Wakeups& wakeups) {
  const bool eagerly = goes_eagerly(send);
  Form form = form_of(send, eagerly);
  // Kept if there is no room now, for the next attempt. Between nodes no word is shared.
  if (form.header.kind != MessageKind::eager && send.order == node::nowhere && !route_.is_remote(send.peer))
    announce(send);
  const bool asks_here = form.header.kind == MessageKind::rts && !route_.is_remote(send.peer);
  Posted posted = asks_here ? post_rts_here(send, form.header, wakeups) : post_as(send, form);
  if (posted == Posted::no_credit) {
    form = form_of(send, false);
    posted = post_as(send, form);
  }
  if (posted == Posted::done) has_left(send, form.header.kind, wakeups);
  return posted;
}

// ---- what waits

bool Core::collects(int peer) const { return collects_ && route_.is_remote(peer); }

// To a peer on another node, where something may wait for others: whether a send of the program's does.
bool Core::is_held(int peer) { return route_.more_follow(peer) && outbox_.holds(peer); }

// A send of the program's that goes on, to a rank on another node: it leaves with others if the network has something to do.
void Core::collect(Request& send, Wakeups& wakeups) {
  const bool held = is_held(send.peer);
  if (!held && !must_wait(send.peer)) return start_send(send, wakeups);
  if (outbox_.is_closed(send.peer)) return end_with(send, MPIX_ERR_PROC_FAILED, wakeups);
  OutboxItem& item = outbox_.make();
  item.request = &send;
  const bool first = outbox_.append(send.peer, item);
  if (!held || send.capacity >= route_.alone_from()) {
    try {
      (void)flush_outbox(wakeups);
    } catch (
        const std::bad_alloc&) {  // it is on the list, and so has not failed: the next poll says what there is to say
    }
  }
  // Also of what the network has no room for now: a thread that sleeps has not asked for any.
  if (first && must_wait(send.peer)) route_.schedule_sending();
}

// To one peer.
class Core::PeerPackets final : public Packets {
 public:
  PeerPackets(Core& core, int peer, Wakeups& wakeups) : core_(core), peer_(peer), wakeups_(wakeups) {}

  bool any_pieces() const { return any_pieces_; }

  std::size_t bytes(const OutboxItem& item) const override {
    if (item.request == nullptr) return item.bytes;
    return form_of(*item.request, core_.goes_eagerly(*item.request)).bytes;
  }
  std::size_t fit(const OutboxItem& first) override {
    if (!core_.route_.is_remote(peer_)) return 1;
    lln::Packet& packet = core_.route_.begin_packet(peer_);
    for (const OutboxItem* item = &first; item != nullptr && add(packet, *item);) item = item->next;
    return packet.size() == 0 ? 1 : packet.size();  // the first waits for credit: it is offered, and refused
  }
  bool post(const OutboxItem& first, std::size_t n) override {
    if (n == 1) {
      const std::uint64_t since = first.since;
      if (!core_.post_item(peer_, first, wakeups_)) return false;
      note_waited(since);
      return true;
    }
    const OutboxItem* item = nullptr;
    const auto write = [&](std::size_t i, std::byte* to) {
      item = i == 0 ? &first : item->next;  // from the first on again, where one rail has refused it
      if (item->request == nullptr) return copy_payload(*item, to);
      core_.write(*item->request, kind_in_packet(i), to);
    };
    if (core_.route_.post_packet(peer_, write) != Posted::done) return false;
    item = &first;
    for (std::size_t i = 0; i < n; ++i) {
      note_waited(item->since);
      // First the next: what has left may be given back by who waits for it, the item is ours.
      if (item->request != nullptr) core_.has_left(*item->request, kind_in_packet(i), wakeups_);
      item = item->next;
    }
    return true;
  }
  bool post_piece() override {
    const bool posted = core_.streams_.post_next(peer_, core_.outbox_.pieces_ahead(), wakeups_);
    any_pieces_ |= posted;
    return posted;
  }

 private:
  using Added = lln::Packet::Added;

  MessageKind kind_in_packet(std::size_t i) const { return core_.route_.packet()[i].header.kind; }
  bool add(lln::Packet& packet, const OutboxItem& item) {
    if (item.request == nullptr) return packet.add(item.header, item.bytes) == Added::yes;
    Request& send = *item.request;
    Form form = form_of(send, core_.goes_eagerly(send));
    Added added = packet.add(form.header, form.bytes);
    if (added == Added::no_credit) {
      form = form_of(send, false);
      added = packet.add(form.header, form.bytes);
    }
    if (added == Added::yes) core_.note_announced(send, form.header.kind);
    return added == Added::yes;
  }
  void note_waited(std::uint64_t since) {
    instruments::Cell* const cell = since == 0 ? nullptr : core_.counters_.held();
    if (cell == nullptr || !core_.route_.is_remote(peer_)) return;
    cell->add(Count::waited);
    cell->add(Count::waited_ticks, instruments::ticks() - since);
  }

  Core& core_;
  const int peer_;
  Wakeups& wakeups_;
  bool any_pieces_ = false;
};

bool Core::flush_outbox(Wakeups& wakeups) {
  return outbox_.flush([&](const OutboxPeer& peer) { return PeerPackets(*this, peer.peer, wakeups); });
}

// Whether it is out of the way: sent, or a send that has failed.
bool Core::post_item(int peer, const OutboxItem& item, Wakeups& wakeups) {
  if (item.request != nullptr) {
    const Posted posted = post_request(*item.request, wakeups);
    if (posted == Posted::no_memory) fail(*item.request, wakeups);
    return posted != Posted::busy;
  }
  return route_.post(peer, item.header, item.bytes, [&](std::byte* to) { copy_payload(item, to); }) == Posted::done;
}

}  // namespace heddle::message
