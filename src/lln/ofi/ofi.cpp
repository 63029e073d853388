#include "lln/ofi/ofi.hpp"

#include <poll.h>
#include <rdma/fi_eq.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

namespace heddle::lln {

namespace {

constexpr Traits what_it_can{.eager = 8192, .ordered = true};

constexpr int most_under_way = 32;  // of one peer
constexpr int most_injected = 16;   // in a row to one peer: then libfabric tells when they have left
constexpr std::size_t buffers = 4;  // that messages arrive in
constexpr std::size_t buffer_bytes = 128 * 1024;
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

bool watch(int events, int fd) {
  epoll_event wanted{.events = EPOLLIN, .data = {.fd = fd}};
  return epoll_ctl(events, EPOLL_CTL_ADD, fd, &wanted) == 0;
}

}  // namespace

struct Ofi::Send : Operation {
  Peer* peer;
  Send* next;
  std::size_t bytes;  // of head and payload
  Packet head;
  std::byte payload[what_it_can.eager];
};

struct Ofi::Buffer : Operation {
  int not_handed_over = 0;
  bool full = false;  // libfabric has given it back
  alignas(64) std::byte bytes[buffer_bytes];
};

Ofi::Ofi(const Surroundings& surroundings, ofi::Info info)
    : directory_(surroundings.directory),
      rank_(surroundings.rank),
      vni_(surroundings.vni),
      fail_(surroundings.fail),
      info_(std::move(info)),
      fabric_(make<fid_fabric>("fi_fabric", fi_fabric, info_->fabric_attr)),
      domain_(make<fid_domain>("fi_domain", fi_domain, fabric_.get(), info_.get())),
      completions_(fabric_.get(), domain_.get()),
      addresses_(make_addresses(domain_.get())),
      endpoint_(make<fid_ep>("fi_endpoint", fi_endpoint, domain_.get(), info_.get())),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      left_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (events_.number() < 0 || left_.number() < 0 || !watch(events_.number(), left_.number()) ||
      (completions_.fd() >= 0 && !watch(events_.number(), completions_.fd())))
    throw std::runtime_error("no descriptors are left for it");
  fid_ep* const endpoint = endpoint_.get();
  ofi::check(fi_ep_bind(endpoint, &addresses_->fid, 0), "fi_ep_bind");
  ofi::check(fi_ep_bind(endpoint, &completions_.get()->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  const std::size_t largest = sizeof(Packet) + what_it_can.eager;
  ofi::check(fi_setopt(&endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &largest, sizeof largest), "fi_setopt");
  ofi::check(fi_enable(endpoint), "fi_enable");
  for (std::size_t i = 0; i < buffers; ++i) {
    buffers_.push_back(std::make_unique<Buffer>());
    buffers_.back()->is_send = false;
    post_buffer(*buffers_.back());
  }

  std::byte address[512];
  std::size_t bytes = sizeof address;
  ofi::check(fi_getname(&endpoint->fid, address, &bytes), "fi_getname");
  if (!directory_.publish(vni_, {address, bytes}))
    throw std::runtime_error("there is no room for the address of VNI " + std::to_string(vni_));
}

Ofi::~Ofi() {
  endpoint_.reset();  // libfabric touches no memory of ours any more
  for (const auto& [rank, peer] : peers_) delete peer->refused;
  while (Send* send = free_) {
    free_ = send->next;
    delete send;
  }
}

const Traits& Ofi::traits() const { return what_it_can; }

// ---- sending

// Null: the peer has published no address yet, or there is no memory for it.
Ofi::Peer* Ofi::connect(int rank) try {
  std::unique_ptr<Peer>& entry = peers_[rank];
  if (!entry) entry = std::make_unique<Peer>(Peer{.rank = rank});
  if (entry->address != FI_ADDR_NOTAVAIL || entry->lost) return entry.get();
  const std::span<const std::byte> address = directory_.find(rank, vni_);
  if (address.empty()) return nullptr;
  if (fi_av_insert(addresses_.get(), address.data(), 1, &entry->address, 0, nullptr) != 1) {
    entry->address = FI_ADDR_NOTAVAIL;
    lose(*entry, "its address is not of this provider", true);
  }
  return entry.get();
} catch (const std::bad_alloc&) {
  return nullptr;
}

Ofi::Send* Ofi::take_send() {
  if (free_ == nullptr) return new (std::nothrow) Send;
  Send* const send = free_;
  free_ = send->next;
  return send;
}

void Ofi::give_back(Send* send) {
  send->next = free_;
  free_ = send;
}

void Ofi::note_under_way(int more) {
  under_way_.store(under_way_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(more),
                   std::memory_order_relaxed);
}

// What is sent to a peer that has gone is lost with it; that is the end of the job, unless it was nothing but credit.
void Ofi::lose(Peer& peer, const char* reason, bool message_lost) {
  peer.lost = true;
  if (!message_lost) return;
  char text[384];
  std::snprintf(text, sizeof text, "rank %d cannot reach rank %d on another node any more (libfabric, %s on %s: %s)",
                rank_, peer.rank, info_->fabric_attr->prov_name, info_->domain_attr->name, reason);
  fail_(text);
}

// False: libfabric cannot take it now. Otherwise it is not ours any more.
bool Ofi::start(Send* send) {
  Peer& peer = *send->peer;
  // Nothing tells of an injected message; but it has left when a later one to that peer has.
  const bool inject =
      send->bytes <= info_->tx_attr->inject_size && peer.under_way == 0 && peer.injected < most_injected;
  const ssize_t result =
      inject ? fi_inject(endpoint_.get(), &send->head, send->bytes, peer.address)
             : fi_send(endpoint_.get(), &send->head, send->bytes, nullptr, peer.address, &send->context);
  if (result == -FI_EAGAIN) return false;
  if (result != 0) {
    lose(peer, fi_strerror(static_cast<int>(-result)), send->head.envelope.header.kind != MessageKind::credit);
  } else if (!inject) {
    peer.injected = 0;
    ++peer.under_way;
    note_under_way(1);
    return true;
  } else {
    ++peer.injected;
  }
  give_back(send);
  return true;
}

Posted Ofi::post(int rank, const Envelope& envelope, std::size_t bytes, Fill fill) {
  if (bytes > what_it_can.eager) return Posted::busy;
  Peer* const peer = connect(rank);
  if (peer == nullptr || !has_room(*peer)) return Posted::busy;
  if (peer->lost) {
    lose(*peer, fi_strerror(FI_ECONNRESET), envelope.header.kind != MessageKind::credit);
    return Posted::done;
  }
  Send* const send = take_send();
  if (send == nullptr) return Posted::busy;
  send->is_send = true;
  send->peer = peer;
  send->bytes = sizeof send->head + bytes;
  send->head = {envelope, rank_};
  fill(send->payload);
  if (start(send)) return Posted::done;
  // It has been filled: it is ours to send, and nothing else goes to this peer before.
  peer->refused = send;
  note_under_way(1);
  refused_.push_back(peer);
  return Posted::done;
}

void Ofi::retry() {
  for (std::size_t i = 0; i < refused_.size();) {
    Peer& peer = *refused_[i];
    if (!start(peer.refused)) {
      ++i;
      continue;
    }
    peer.refused = nullptr;
    note_under_way(-1);
    refused_[i] = refused_.back();
    refused_.pop_back();
  }
}

void Ofi::complete_send(Send* send, const char* failure) {
  Peer& peer = *send->peer;
  --peer.under_way;
  note_under_way(-1);
  if (failure != nullptr) lose(peer, failure, send->head.envelope.header.kind != MessageKind::credit);
  give_back(send);
}

// What has been injected has left when an empty message behind it has.
void Ofi::flush() {
  for (const auto& [rank, peer] : peers_) {
    if (peer->injected == 0 || peer->refused != nullptr || peer->lost) continue;
    Send* const send = take_send();
    if (send == nullptr) continue;
    send->is_send = true;
    send->peer = peer.get();
    send->bytes = 0;
    send->head.envelope.header.kind = MessageKind::credit;
    peer->injected = most_injected;
    if (!start(send)) {
      peer->refused = send;
      note_under_way(1);
      refused_.push_back(peer.get());
    }
  }
}

bool Ofi::has_room(const Peer& peer) const { return peer.under_way < most_under_way && peer.refused == nullptr; }

void Ofi::want_room(int rank) {
  const auto there = peers_.find(rank);
  if (there == peers_.end() || (there->second->address == FI_ADDR_NOTAVAIL && !there->second->lost)) {
    look_again_ = true;
    return;
  }
  Peer& peer = *there->second;
  if (peer.room_wanted) return;
  peer.room_wanted = true;
  try {
    waiting_.push_back(&peer);
  } catch (const std::bad_alloc&) {
    peer.room_wanted = false;
    look_again_ = true;
  }
  say_left();
}

void Ofi::forget_room() {
  for (Peer* const peer : waiting_) peer->room_wanted = false;
  waiting_.clear();
  say_left();
}

// Nothing tells when a message that was refused is taken.
std::int64_t Ofi::look_again_after() const {
  return look_again_ || !refused_.empty() || completions_.fd() < 0 ? millisecond : 0;
}

// ---- receiving

void Ofi::post_buffer(Buffer& buffer) {
  buffer.full = false;
  iovec where{buffer.bytes, sizeof buffer.bytes};
  fi_msg message{};
  message.msg_iov = &where;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = &buffer.context;
  ssize_t result;
  for (int tries = 0; (result = fi_recvmsg(endpoint_.get(), &message, FI_MULTI_RECV)) == -FI_EAGAIN && tries < 1000;
       ++tries)
    read_completions();
  ofi::check(result, "fi_recvmsg");
}

void Ofi::complete(Operation* operation, std::uint64_t flags, void* data, std::size_t bytes) {
  if (operation->is_send) return complete_send(static_cast<Send*>(operation), nullptr);
  auto& buffer = *static_cast<Buffer*>(operation);
  if ((flags & FI_MULTI_RECV) != 0) buffer.full = true;
  if (bytes >= sizeof(Packet)) {
    ++buffer.not_handed_over;
    arrived_.push_back({&buffer, static_cast<const std::byte*>(data), bytes});
  } else if (buffer.full && buffer.not_handed_over == 0) {
    post_buffer(buffer);
  }
}

void Ofi::take_error() {
  fi_cq_err_entry error{};
  if (fi_cq_readerr(completions_.get(), &error, 0) < 0 || error.err == FI_ECANCELED) return;
  char detail[192];
  const char* text = fi_cq_strerror(completions_.get(), error.prov_errno, error.err_data, detail, sizeof detail);
  if (text == nullptr || *text == '\0') text = fi_strerror(error.err);
  auto* const operation = static_cast<Operation*>(error.op_context);
  if (operation != nullptr && operation->is_send) return complete_send(static_cast<Send*>(operation), text);
  char sentence[384];
  std::snprintf(sentence, sizeof sentence,
                "rank %d cannot receive from other nodes any more (libfabric, %s on %s: %s, %s)", rank_,
                info_->fabric_attr->prov_name, info_->domain_attr->name, fi_strerror(error.err), text);
  fail_(sentence);
}

void Ofi::read_completions() {
  constexpr std::size_t at_once = 32;
  fi_cq_data_entry entries[at_once];
  const ssize_t count = fi_cq_read(completions_.get(), entries, at_once);
  if (count == -FI_EAVAIL) return take_error();
  for (ssize_t i = 0; i < count; ++i)
    complete(static_cast<Operation*>(entries[i].op_context), entries[i].flags, entries[i].buf, entries[i].len);
}

int Ofi::hand_over(int most, Sink& sink) {
  int handed = 0;
  for (; handed < most && !arrived_.empty(); ++handed) {
    const auto [buffer, at, bytes] = arrived_.front();
    Packet head;
    std::memcpy(&head, at, sizeof head);
    if (!sink(head.sender, head.envelope, at + sizeof head, bytes - sizeof head)) break;
    arrived_.pop_front();
    if (--buffer->not_handed_over == 0 && buffer->full) post_buffer(*buffer);
  }
  return handed;
}

int Ofi::poll(int most, Sink sink) {
  look_again_ = false;
  if (!refused_.empty()) retry();
  read_completions();
  const int handed = hand_over(most, sink);
  must_poll_ = false;
  if (armed_.load(std::memory_order_relaxed)) {
    // Whoever sleeps is told of what has been handed over. Of the rest libfabric must tell again.
    if (handed != 0) {
      armed_.store(false, std::memory_order_relaxed);
    } else {
      must_poll_ = !completions_.may_sleep();
    }
  }
  say_left();
  return handed;
}

// What is left behind is work: it keeps threads awake, or wakes them.
void Ofi::say_left() {
  const bool any = must_poll_ || !arrived_.empty() ||
                   std::any_of(waiting_.begin(), waiting_.end(), [this](const Peer* peer) { return has_room(*peer); });
  if (any == any_left_.load(std::memory_order_relaxed)) return;
  any_left_.store(any, std::memory_order_relaxed);
  std::uint64_t count = 1;
  if (any) {
    (void)!write(left_.number(), &count, sizeof count);
  } else {
    (void)!read(left_.number(), &count, sizeof count);
  }
}

bool Ofi::arrived() const {
  if (any_left_.load(std::memory_order_relaxed) || !armed_.load(std::memory_order_relaxed)) return true;
  pollfd readable{.fd = events_.number(), .events = POLLIN, .revents = 0};
  return ::poll(&readable, 1, 0) > 0;
}

bool Ofi::arm() {
  if (any_left_.load(std::memory_order_relaxed) || !completions_.may_sleep()) return false;
  armed_.store(true, std::memory_order_relaxed);
  return true;
}

}  // namespace heddle::lln
