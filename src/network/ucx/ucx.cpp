#include "network/ucx/ucx.hpp"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <utility>

namespace heddle::lln {

namespace {

constexpr std::size_t eager = 8192;
// These buffers are never mapped: a copy costs less than a handshake. 64 KiB, with the heads above before them.
constexpr std::size_t eager_over_tcp = 64 * 1024 + 64;
constexpr std::size_t longs_by_rendezvous = 32 * 1024;
constexpr unsigned message_id = 0;
constexpr unsigned long_id = 1;
constexpr std::uint32_t sent_as_it_can =
    UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
constexpr std::uint32_t sent_at_once = sent_as_it_can | UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;  // or refused
constexpr int most_under_way = 32;                                                        // of one peer
constexpr int rounds_before_arming = 16;
constexpr std::int64_t millisecond = 1'000'000;
constexpr std::int64_t patience_in_closing = 1000 * millisecond;  // of UCX itself

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

}  // namespace

struct Ucx::Send {
  Ucx* end;
  Peer* peer;
  Send* next;
  LongHead head;
  std::uint64_t name;                    // of a long message, above
  std::unique_ptr<std::byte[]> payload;  // room for an eager payload, whose pages cost nothing before they are used
};

Ucx::Ucx(const Surroundings& surroundings)
    : directory_(surroundings.directory),
      rank_(surroundings.place.rank),
      vni_(surroundings.vni),
      membership_(surroundings.secret, surroundings.place, vni_),
      fail_(surroundings.fail),
      lost_(surroundings.lost),
      note_(surroundings.note),
      context_(ucx::make_context(surroundings.device, surroundings.survives)),
      at_once_(ucx::longest_at_once(context_.get())),
      how_(surroundings.survives && ucx::must_post_at_once(context_.get()) ? sent_at_once : sent_as_it_can),
      traits_{.eager = at_once_ != 0 ? eager_over_tcp : eager,
              .ordered = false,
              .longs = surroundings.survives ? 0
                       : at_once_ != 0       ? eager
                                             : longs_by_rendezvous},
      worker_(ucx::make_worker(context_.get())) {
  int fd = -1;
  ucx::check(ucp_worker_get_efd(worker_.get(), &fd), "ucp_worker_get_efd");
  readiness_.watch(fd);

  handle(message_id, surroundings.survives ? on_message_for_later : on_message);
  handle(long_id, on_long);

  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  ucx::check(ucp_worker_get_address(worker_.get(), &address, &bytes), "ucp_worker_get_address");
  const bool published =
      directory_.publish(vni_, membership_.seal({reinterpret_cast<const std::byte*>(address), bytes}));
  ucp_worker_release_address(worker_.get(), address);
  if (!published) throw std::runtime_error("no room for the address of VNI " + std::to_string(vni_));
}

Ucx::~Ucx() {
  if (worker_) close();
}

// A caller that wanted all messages to arrive has flushed before, so peers are not waited for.
void Ucx::close() {
  closing_ = true;
  for (auto& [rank, peer] : peers_) begin_to_close(*peer);
  const std::int64_t end = now() + patience_in_closing;
  for (ucs_status_ptr_t const one : closing_ends_) {
    if (!UCS_PTR_IS_PTR(one)) continue;
    while (ucp_request_check_status(one) == UCS_INPROGRESS && now() < end) ucp_worker_progress(worker_.get());
    ucp_request_free(one);
  }
  for (const Kept& message : kept_) release(message);
  kept_.clear();
  readiness_.set_left(false);  // threads blocked on this end shall not be woken for nothing
  worker_.reset();
  context_.reset();
}

// Without a message to the peer: messages in flight to it are canceled.
void Ucx::begin_to_close(Peer& peer) {
  if (peer.endpoint == nullptr) return;
  closing_ends_.reserve(closing_ends_.size() + 1);
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  how.flags = UCP_EP_CLOSE_FLAG_FORCE;
  closing_ends_.push_back(ucp_ep_close_nbx(std::exchange(peer.endpoint, nullptr), &how));
}

void Ucx::handle(unsigned id, ucp_am_recv_callback_t callback) {
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = id;
  handler.cb = callback;
  handler.arg = this;
  ucx::check(ucp_worker_set_am_recv_handler(worker_.get(), &handler), "ucp_worker_set_am_recv_handler");
}

// ---- sending

// Throws std::bad_alloc.
Ucx::Peer& Ucx::peer_of(int rank) {
  std::unique_ptr<Peer>& entry = peers_[rank];
  if (!entry) entry = std::make_unique<Peer>(Peer{.rank = rank, .token = membership_.token_of(rank)});
  return *entry;
}

// Null: the peer has published no address yet, or there is no memory for it.
Ucx::Peer* Ucx::connect(int rank) try {
  Peer* const entry = &peer_of(rank);
  if (entry->endpoint != nullptr || entry->lost) return entry;
  const std::span<const std::byte> card = directory_.find(rank, vni_);
  if (card.empty()) return nullptr;
  const std::span<const std::byte> address = membership_.unseal(rank, card);
  if (address.empty()) {
    lose(*entry, UCS_ERR_INVALID_ADDR, true);
    return entry;
  }
  ucp_ep_params_t wanted{};
  wanted.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  wanted.address = reinterpret_cast<const ucp_address_t*>(address.data());
  wanted.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  wanted.err_handler = {.cb = on_error, .arg = entry};
  const ucs_status_t status = ucp_ep_create(worker_.get(), &wanted, &entry->endpoint);
  if (status == UCS_ERR_NO_MEMORY) return nullptr;
  if (status != UCS_OK) {
    entry->endpoint = nullptr;
    lose(*entry, status, true);
  }
  return entry;
} catch (const std::bad_alloc&) {
  return nullptr;
}

Ucx::Send* Ucx::take_send() try {
  if (free_ == nullptr) {
    auto made = std::make_unique<Send>();
    made->payload = std::make_unique_for_overwrite<std::byte[]>(traits_.eager);
    return sends_.emplace_back(std::move(made)).get();
  }
  Send* const send = free_;
  free_ = send->next;
  return send;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void Ucx::give_back(Send* send) {
  send->next = free_;
  free_ = send;
}

void Ucx::note_under_way(int more) {
  under_way_.store(under_way_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(more),
                   std::memory_order_relaxed);
}

// Messages to a peer that has gone are lost with it; a loss that matters is reported.
void Ucx::lose(Peer& peer, ucs_status_t status, bool message_lost) {
  peer.lost = true;
  if (!message_lost || closing_ || peer.given_up) return;
  char text[256];
  std::snprintf(text, sizeof text, "rank %d cannot reach rank %d on another node any more (UCX: %s)", rank_, peer.rank,
                ucs_status_string(status));
  lost_(peer.rank, text);
}

// UCX completes sends to it, now or in the next polls.
void Ucx::give_up(int rank) {
  const LibraryUse::Inside inside(use_);
  if (!inside) return;
  Peer& peer = peer_of(rank);
  peer.lost = peer.given_up = true;
  begin_to_close(peer);
}

// A peer that takes a message now. Null: `otherwise` is the result.
Ucx::Peer* Ucx::find_way(int rank, Posted& otherwise, bool message_matters) {
  otherwise = Posted::busy;
  Peer* const peer = connect(rank);
  if (peer == nullptr || (!has_room(*peer) && !peer->given_up)) return nullptr;
  if (!peer->lost) return peer;
  lose(*peer, UCS_ERR_CONNECTION_RESET, message_matters);
  otherwise = Posted::done;
  return nullptr;
}

Posted Ucx::post(int rank, const Envelope& envelope, std::size_t bytes, Fill fill) {
  const LibraryUse::Inside inside(use_);
  if (!inside) return Posted::busy;
  if (bytes > traits_.eager) return Posted::busy;
  Posted otherwise;
  Peer* const peer = find_way(rank, otherwise, is_awaited(envelope.header.kind));
  if (peer == nullptr) return otherwise;
  Send* const send = take_send();
  if (send == nullptr) return Posted::busy;
  send->end = this;
  send->peer = peer;
  send->head.head = head_of(envelope, peer->token, rank_);
  fill(send->payload.get());
  ucp_request_param_t how{};
  how.op_attr_mask = how_;
  how.flags = UCP_AM_SEND_FLAG_EAGER;
  how.cb.send = on_sent;
  how.user_data = send;
  ucs_status_ptr_t const sent = ucp_am_send_nbx(peer->endpoint, message_id, &send->head, sizeof send->head.head,
                                                send->payload.get(), bytes, &how);
  if (UCS_PTR_IS_PTR(sent)) {
    ++peer->under_way;
    note_under_way(1);
    return Posted::done;
  }
  give_back(send);
  if (!UCS_PTR_IS_ERR(sent)) return Posted::done;
  const ucs_status_t status = UCS_PTR_STATUS(sent);
  if (status == UCS_ERR_NO_MEMORY || status == UCS_ERR_NO_RESOURCE) return Posted::busy;
  lose(*peer, status, is_awaited(envelope.header.kind));
  return Posted::done;
}

Posted Ucx::post_long(int rank, std::uint64_t landing, std::span<const std::byte> memory, std::uint64_t ours) {
  const LibraryUse::Inside inside(use_);
  if (!inside) return Posted::busy;
  Posted otherwise;
  Peer* const peer = find_way(rank, otherwise, true);
  if (peer == nullptr) return otherwise;
  Send* const send = take_send();
  if (send == nullptr) return Posted::busy;
  send->end = this;
  send->peer = peer;
  send->head = {head_of_long(peer->token, rank_), landing};
  send->name = ours;
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  how.flags = memory.size() <= at_once_ ? UCP_AM_SEND_FLAG_EAGER : UCP_AM_SEND_FLAG_RNDV;
  how.cb.send = on_left;
  how.user_data = send;
  ucs_status_ptr_t const sent =
      ucp_am_send_nbx(peer->endpoint, long_id, &send->head, sizeof send->head, memory.data(), memory.size(), &how);
  if (UCS_PTR_IS_PTR(sent)) {
    ++longs_;
    ++peer->under_way;
    note_under_way(1);
    return Posted::done;
  }
  if (UCS_PTR_STATUS(sent) == UCS_ERR_NO_MEMORY) {
    give_back(send);
    return Posted::busy;
  }
  if (UCS_PTR_IS_ERR(sent)) lose(*peer, UCS_PTR_STATUS(sent), true);
  note_left(*send);
  if (readiness_.is_armed()) say_left();  // no other event would wake a thread that waits for it
  return Posted::done;
}

// There may be no memory for a message about it, and a post has no sink.
void Ucx::note_left(Send& send) {
  send.next = left_;
  left_ = &send;
}

void Ucx::hand_over_left(Poll& poll) {
  while (Send* const send = left_) {
    left_ = send->next;
    if (!hand_over(poll, send->peer->rank, says(MessageKind::left), &send->name, sizeof send->name))
      return note_left(*send);
    give_back(send);
  }
}

void Ucx::on_left(void* request, ucs_status_t status, void* user_data) {
  auto* const send = static_cast<Send*>(user_data);
  Ucx& end = *send->end;
  Peer& peer = *send->peer;
  --end.longs_;
  --peer.under_way;
  end.note_under_way(-1);
  if (status != UCS_OK) end.lose(peer, status, true);
  end.note_left(*send);
  ucp_request_free(request);
}

void Ucx::on_sent(void* request, ucs_status_t status, void* user_data) {
  auto* const send = static_cast<Send*>(user_data);
  Ucx& end = *send->end;
  Peer& peer = *send->peer;
  --peer.under_way;
  end.note_under_way(-1);
  if (status != UCS_OK) end.lose(peer, status, is_awaited(send->head.head.kind));
  end.give_back(send);
  ucp_request_free(request);
}

// Sends that UCX has completed may still be in its buffers. Flushes all peers at once: flushing one endpoint needs its
// peer, which may have finalized.
void Ucx::flush() {
  const LibraryUse::Inside inside(use_);
  if (!inside) return;
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.send = on_flushed;
  how.user_data = this;
  if (UCS_PTR_IS_PTR(ucp_worker_flush_nbx(worker_.get(), &how))) note_under_way(1);
}

void Ucx::on_flushed(void* request, ucs_status_t, void* end) {
  static_cast<Ucx*>(end)->note_under_way(-1);
  ucp_request_free(request);
}

int Ucx::slow_peer() const {
  const LibraryUse::Inside inside(use_);
  if (!inside) return -1;
  for (const auto& [rank, peer] : peers_)
    if (peer->under_way != 0) return rank;
  return -1;
}

// A peer that has finalized closes its connection too, which UCX may call a timeout: the lost messages tell if that
// matters.
void Ucx::on_error(void* peer, ucp_ep_h, ucs_status_t) { static_cast<Peer*>(peer)->lost = true; }

bool Ucx::has_room(const Peer& peer) const { return peer.under_way < most_under_way; }

void Ucx::want_room(int rank) {
  const LibraryUse::Inside inside(use_);
  if (!inside) return;
  const auto there = peers_.find(rank);
  if (how_ == sent_at_once || there == peers_.end() || (there->second->endpoint == nullptr && !there->second->lost)) {
    poll_again_ = true;
    return;
  }
  Peer& peer = *there->second;
  if (peer.room_wanted) return;
  peer.room_wanted = true;
  try {
    waiting_.push_back(&peer);
  } catch (const std::bad_alloc&) {
    peer.room_wanted = false;
    poll_again_ = true;
  }
  say_left();
}

void Ucx::forget_room() {
  const LibraryUse::Inside inside(use_);
  if (!inside) return;
  for (Peer* const peer : waiting_) peer->room_wanted = false;
  waiting_.clear();
  say_left();
}

std::int64_t Ucx::poll_again_after() const { return poll_again_ ? millisecond : 0; }

// ---- polling and blocking

int Ucx::poll(int most, Sink sink) {
  const LibraryUse::Inside inside(use_);
  moving_ = false;
  if (!inside) return 0;
  poll_again_ = false;
  Poll poll{sink, most};
  while (!kept_.empty()) {
    const Kept& first = kept_.front();
    if (!hand_over(poll, first.sender, first.envelope, first.data, first.bytes)) break;
    release(first);
    kept_.pop_front();
  }
  hand_over_left(poll);
  poll_ = &poll;
  const unsigned happened = ucp_worker_progress(worker_.get());
  moving_ = happened != 0 && longs_ != 0;
  poll_ = nullptr;
  hand_over_left(poll);
  must_poll_ = false;
  if (readiness_.is_armed()) {
    // Blocked threads are woken for the messages handed over. UCX must signal further ones anew.
    if (poll.handed != 0) {
      readiness_.set_armed(false);
    } else if (happened != 0) {
      must_poll_ = !arm_worker();
    }
  }
  say_left();
  return poll.handed;
}

// Deferred work keeps threads spinning, or wakes them.
void Ucx::say_left() {
  const bool any = must_poll_ || !kept_.empty() || left_ != nullptr ||
                   std::any_of(waiting_.begin(), waiting_.end(), [this](const Peer* peer) { return has_room(*peer); });
  readiness_.set_left(any);
}

// Before it can be armed UCX must have no work of its own. Messages that it hands over meanwhile are kept. False: there
// is more to do.
bool Ucx::arm_worker() {
  for (int left = rounds_before_arming; ucp_worker_progress(worker_.get()) != 0;)
    if (--left == 0) return false;
  return ucp_worker_arm(worker_.get()) == UCS_OK;
}

// No descriptor shows what UCX already holds: nothing is armed until a poll has taken it.
bool Ucx::arm() {
  const LibraryUse::Inside inside(use_);
  if (!inside) return true;  // nothing arrives any more
  const bool ready = arm_worker();
  say_left();
  const bool armed = ready && !readiness_.any_left();
  readiness_.set_armed(armed);
  return armed;
}

}  // namespace heddle::lln
