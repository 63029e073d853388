#include "network/ofi/ofi.hpp"

#include <rdma/fi_eq.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "network/ofi/card.hpp"
#include "network/ofi/operations.hpp"

namespace heddle::lln {

namespace {

constexpr std::size_t longs = 32 * 1024;
constexpr int most_under_way = 32;   // of one peer
constexpr int most_injected = 16;    // in a row to one peer; then libfabric must report their completion
constexpr std::size_t buffers = 64;  // receive buffers, each for one message
constexpr std::int64_t millisecond = 1'000'000;

template <class Object, class Call, class... Args>
ofi::Handle<Object> make(const char* name, Call call, Args... args) {
  Object* made = nullptr;
  ofi::check(call(args..., &made, nullptr), name);
  return ofi::Handle<Object>(made);
}

ofi::Handle<fid_av> make_addresses(fid_domain* domain) {
  fi_av_attr wanted{};
  wanted.type = FI_AV_TABLE;
  return make<fid_av>("fi_av_open", fi_av_open, domain, &wanted);
}

}  // namespace

Ofi::Ofi(const Surroundings& surroundings, ofi::Info info)
    : directory_(surroundings.directory),
      rank_(surroundings.place.rank),
      vni_(surroundings.vni),
      survives_(surroundings.survives),
      membership_(surroundings.secret, surroundings.place, vni_),
      fail_(surroundings.fail),
      lost_(surroundings.lost),
      note_(surroundings.note),
      info_(std::move(info)),
      traits_{.eager = ofi::eager,
              .ordered = true,
              .longs = !survives_ && info_->tx_attr->inject_size >= sizeof(PacketHead) + sizeof(ofi::LongAnnouncement)
                           ? longs
                           : 0},
      fabric_(make<fid_fabric>("fi_fabric", fi_fabric, info_->fabric_attr)),
      domain_(make<fid_domain>("fi_domain", fi_domain, fabric_.get(), info_.get())),
      completions_(fabric_.get(), domain_.get()),
      addresses_(make_addresses(domain_.get())),
      endpoint_(make<fid_ep>("fi_endpoint", fi_endpoint, domain_.get(), info_.get())) {
  if (completions_.fd() >= 0) readiness_.watch(completions_.fd());
  fid_ep* const endpoint = endpoint_.get();
  ofi::check(fi_ep_bind(endpoint, &addresses_->fid, 0), "fi_ep_bind");
  ofi::check(fi_ep_bind(endpoint, &completions_.get()->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  ofi::check(fi_enable(endpoint), "fi_enable");
  // When an injected message is lost, libfabric does not name its receiver.
  if (survives_) info_->tx_attr->inject_size = 0;
  for (std::size_t i = 0; i < buffers; ++i) {
    buffers_.push_back(std::make_unique<Buffer>());
    buffers_.back()->kind = Kind::buffer;
    receive_into(buffers_.back().get());
  }

  if (!directory_.publish(vni_, membership_.seal(ofi::make_card(info_.get(), endpoint))))
    throw std::runtime_error("no room for the address of VNI " + std::to_string(vni_));
}

Ofi::~Ofi() {
  endpoint_.reset();  // libfabric does not access our memory any more
}

// ---- sending

// Throws std::bad_alloc.
Ofi::Peer& Ofi::peer_of(int rank) {
  std::unique_ptr<Peer>& entry = peers_[rank];
  if (!entry) {
    entry = std::make_unique<Peer>(Peer{.rank = rank, .token = membership_.token_of(rank)});
    waiting_.reserve(peers_.size());
    keeping_.reserve(peers_.size());
  }
  return *entry;
}

// Null: the peer has published no address yet, or there is no memory for it.
Ofi::Peer* Ofi::connect(int rank) try {
  Peer* const entry = &peer_of(rank);
  if (entry->address != FI_ADDR_NOTAVAIL || entry->lost) return entry;
  const std::span<const std::byte> card = directory_.find(rank, vni_);
  if (card.empty()) return nullptr;
  const Result<const void*> address = ofi::read_card(info_.get(), membership_.unseal(rank, card));
  if (!address || fi_av_insert(addresses_.get(), *address, 1, &entry->address, 0, nullptr) != 1) {
    entry->address = FI_ADDR_NOTAVAIL;
    lose(*entry, address ? "fi_av_insert does not take its address" : address.failure().text.c_str(), true);
  }
  return entry;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// Null: there is no memory for it.
Ofi::Send* Ofi::take_send(Peer& peer, bool matters) try {
  if (free_ == nullptr) give_back(sends_.emplace_back(new Send).get());
  Send* const send = free_;
  free_ = send->next;
  send->kind = Kind::send;
  send->peer = &peer;
  send->next = nullptr;
  send->has_left = false;
  send->matters = matters;
  send->may_be_injected = true;
  send->memory = {};
  ++peer.sent;
  if (matters) {
    peer.sent_awaited = peer.sent;
    peer.finished = false;  // the peer has come back
  }
  return send;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void Ofi::give_back(Send* send) {
  send->next = free_;
  free_ = send;
}

void Ofi::note_under_way(int more) {
  under_way_.store(under_way_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(more),
                   std::memory_order_relaxed);
}

// Messages to a peer that has gone are lost with it; a loss that matters is reported.
void Ofi::lose(Peer& peer, const char* reason, bool message_lost) {
  peer.lost = true;
  if (!message_lost || peer.given_up) return;
  char text[384];
  std::snprintf(text, sizeof text, "rank %d cannot reach rank %d on another node any more (libfabric, %s on %s: %s)",
                rank_, peer.rank, info_->fabric_attr->prov_name, info_->domain_attr->name, reason);
  lost_(peer.rank, text);
}

// libfabric cannot close the connection to one peer, so it keeps pending sends until it notices the failure, or until
// the end is closed.
void Ofi::give_up(int rank) {
  const LibraryUse::Inside inside(use_);
  if (!inside) return;
  Peer& peer = peer_of(rank);
  peer.lost = peer.given_up = true;
  while (Send* const send = peer.kept) {
    peer.kept = send->next;
    finish(send, nullptr);
  }
  std::erase(keeping_, &peer);
  for (Send* send = free_; send != nullptr; send = send->next) send->peer = nullptr;
  for (const auto& send : sends_)
    if (send->peer == &peer) send->kind = Kind::forgotten_send;
  note_under_way(-peer.under_way);
  peer.under_way = peer.awaited = 0;
}

// The result of libfabric.
ssize_t Ofi::try_to_start(Send& send) {
  Peer& peer = *send.peer;
  const bool is_long = !send.memory.empty();
  if (!send.has_left) {
    // libfabric does not report that an injected message has left; the completion of a later one to that peer implies
    // it.
    const bool inject = is_long || (send.may_be_injected && send.bytes <= info_->tx_attr->inject_size &&
                                    peer.under_way == 1 && peer.injected < most_injected);
    const ssize_t result = inject
                               ? fi_inject(endpoint_.get(), &send.head, send.bytes, peer.address)
                               : fi_send(endpoint_.get(), &send.head, send.bytes, nullptr, peer.address, &send.context);
    if (result != 0) return result;
    send.has_left = inject;
    if (inject) ++peer.injected;
  }
  if (is_long)
    return fi_tsend(endpoint_.get(), send.memory.data(), send.memory.size(), nullptr, peer.address,
                    tag_of(send.landing), &send.context);
  return 0;
}

// False: libfabric cannot take it now. Otherwise the caller does not own it any more.
bool Ofi::start(Send* send) {
  const ssize_t result = try_to_start(*send);
  if (result == -FI_EAGAIN) return false;
  if (result != 0) {
    finish(send, fi_strerror(static_cast<int>(-result)));
  } else if (send->has_left && send->memory.empty()) {
    finish(send, nullptr);
  } else {
    send->peer->injected = 0;
  }
  return true;
}

// A send that libfabric refuses has its payload already, so this end keeps it, and later sends to the same peer follow
// it.
void Ofi::start_or_keep(Send* send) {
  Peer& peer = *send->peer;
  ++peer.under_way;
  peer.awaited += send->matters ? 1 : 0;
  note_under_way(1);
  if (peer.kept == nullptr) {
    if (start(send)) return;
    peer.kept = send;
    keeping_.push_back(&peer);
  } else {
    peer.last_kept->next = send;
  }
  peer.last_kept = send;
}

void Ofi::start_kept() {
  for (std::size_t i = 0; i < keeping_.size();) {
    Peer& peer = *keeping_[i];
    while (Send* const send = peer.kept) {
      Send* const next = send->next;
      if (peer.finished || (peer.has_left && !send->matters)) {
        --peer.sent;  // if the peer comes back, it misses none
        finish(send, nullptr);
      } else if (!start(send)) {
        break;
      }
      peer.kept = next;
    }
    if (peer.kept != nullptr) {
      ++i;
    } else {
      keeping_[i] = keeping_.back();
      keeping_.pop_back();
    }
  }
}

void Ofi::finish(Send* send, const char* failure) {
  Peer& peer = *send->peer;
  --peer.under_way;
  peer.awaited -= send->matters ? 1 : 0;
  note_under_way(-1);
  if (failure != nullptr) lose(peer, failure, send->matters);
  if (!send->memory.empty()) tell(MessageKind::left, peer.rank, send->name);
  give_back(send);
}

// A peer that takes a message now. Null: `otherwise` is the result.
Ofi::Peer* Ofi::find_way(int rank, Posted& otherwise, bool message_matters) {
  otherwise = Posted::busy;
  Peer* const peer = connect(rank);
  if (peer == nullptr || (!has_room(*peer) && !peer->given_up)) return nullptr;
  if (!peer->lost) return peer;
  lose(*peer, fi_strerror(FI_ECONNRESET), message_matters);
  otherwise = Posted::done;
  return nullptr;
}

Posted Ofi::post(int rank, const Envelope& envelope, std::size_t bytes, Fill fill) {
  const LibraryUse::Inside inside(use_);
  if (!inside) return Posted::busy;
  if (bytes > ofi::eager) return Posted::busy;
  Posted otherwise;
  Peer* const peer = find_way(rank, otherwise, is_awaited(envelope.header.kind));
  if (peer == nullptr) return otherwise;
  Send* const send = take_send(*peer, is_awaited(envelope.header.kind));
  if (send == nullptr) return Posted::busy;
  send->bytes = sizeof send->head + bytes;
  send->head = head_of(envelope, peer->token, rank_, peer->last_number());
  fill(send->payload);
  start_or_keep(send);
  return Posted::done;
}

Posted Ofi::post_long(int rank, std::uint64_t landing, std::span<const std::byte> memory, std::uint64_t ours) {
  const LibraryUse::Inside inside(use_);
  if (!inside) return Posted::busy;
  Posted otherwise;
  Peer* const peer = find_way(rank, otherwise, true);
  if (peer == nullptr) return otherwise;
  Send* const send = take_send(*peer, true);
  if (send == nullptr) return Posted::busy;
  const ofi::LongAnnouncement announced{landing, memory.size()};
  send->bytes = sizeof send->head + sizeof announced;
  send->memory = memory;
  send->landing = landing;
  send->name = ours;
  send->head = head_of_long(peer->token, rank_, peer->last_number());
  std::memcpy(send->payload, &announced, sizeof announced);
  start_or_keep(send);
  return Posted::done;
}

// To all peers with which a packet has been exchanged, in either direction: each waits for the other's disconnect
// message, unless the peer is unreachable. A peer that has received ours owes us nothing and may have gone, so it is
// not sent again.
void Ofi::flush() {
  const LibraryUse::Inside inside(use_);
  if (!inside) return;
  for (const auto& [rank, known] : peers_) {
    Peer* const peer = known->finished ? nullptr : connect(rank);
    if (peer == nullptr || peer->lost) continue;
    if (peer->sent == peer->sent_at_disconnect && peer->arrived == peer->arrived_at_disconnect) continue;
    Send* const send = take_send(*peer, false);
    if (send == nullptr) continue;
    peer->sent_at_disconnect = peer->sent;
    peer->arrived_at_disconnect = peer->arrived;
    send->bytes = sizeof send->head;
    send->may_be_injected = false;
    send->head = head_of_disconnect(peer->arrived, peer->token, rank_, peer->last_number());
    start_or_keep(send);
  }
}

int Ofi::slow_peer() const {
  for (const auto& [rank, peer] : peers_)
    if (peer->awaited != 0) return rank;
  return -1;
}

bool Ofi::has_room(const Peer& peer) const { return peer.under_way < most_under_way; }

void Ofi::want_room(int rank) {
  const auto there = peers_.find(rank);
  if (there == peers_.end() || (there->second->address == FI_ADDR_NOTAVAIL && !there->second->lost)) {
    poll_again_ = true;
    return;
  }
  Peer& peer = *there->second;
  if (peer.room_wanted) return;
  peer.room_wanted = true;
  waiting_.push_back(&peer);
  say_left();
}

void Ofi::forget_room() {
  for (Peer* const peer : waiting_) peer->room_wanted = false;
  waiting_.clear();
  say_left();
}

// libfabric does not signal when it would take a refused send.
std::int64_t Ofi::poll_again_after() const {
  return poll_again_ || !keeping_.empty() || !not_posted_.empty() || completions_.fd() < 0 ? millisecond : 0;
}

}  // namespace heddle::lln
