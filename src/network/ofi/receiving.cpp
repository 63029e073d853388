// Arrivals over libfabric: messages in buffers, the data of long ones, and errors.
#include <errno.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "network/ofi/operations.hpp"

namespace heddle::lln {

void Ofi::receive_into(Operation* operation) {
  ssize_t result;
  if (operation->kind == Kind::buffer) {
    auto& buffer = *static_cast<Buffer*>(operation);
    result = fi_recv(endpoint_.get(), buffer.bytes, sizeof buffer.bytes, nullptr, FI_ADDR_UNSPEC, &buffer.context);
  } else {
    const auto& arrival = *static_cast<Arrival*>(operation);
    const Landing& landing = *arrival.landing;
    result = fi_trecv(endpoint_.get(), landing.memory, landing.bytes, nullptr, FI_ADDR_UNSPEC, tag_of(landing.name), 0,
                      &operation->context);
  }
  if (result == 0) return;
  if (result == -FI_EAGAIN) return not_posted_.push_back(operation);
  fail_receiving(fi_strerror(static_cast<int>(-result)));
}

// The tag for the data of a long message, in as many bits as the provider compares.
std::uint64_t Ofi::tag_of(std::uint64_t landing) const {
  const std::uint64_t format = info_->ep_attr->mem_tag_format;
  return membership_.tag_of(landing) >> (format == 0 ? 0 : std::countl_zero(format));
}

// The data of a long message follow its announcement.
void Ofi::await_landing(Landing& landing) {
  if (free_arrival_ == nullptr) {
    arrivals_.push_back(std::make_unique<Arrival>());
    free_arrival_ = arrivals_.back().get();
    free_arrival_->kind = Kind::arrival;
    free_arrival_->next = nullptr;
  }
  Arrival* const arrival = free_arrival_;
  free_arrival_ = arrival->next;
  arrival->landing = &landing;
  receive_into(arrival);
}

void Ofi::complete(Operation* operation, const fi_cq_data_entry& entry) {
  switch (operation->kind) {
    case Kind::send:
      return finish(static_cast<Send*>(operation), nullptr);
    case Kind::forgotten_send:
      return give_back(static_cast<Send*>(operation));
    case Kind::buffer:
      return take(*static_cast<Buffer*>(operation), entry);
    case Kind::arrival: {
      auto* const arrival = static_cast<Arrival*>(operation);
      const Landing* const landing = arrival->landing;
      arrival->next = free_arrival_;
      free_arrival_ = arrival;
      if (entry.len != landing->bytes) return fail_receiving("a long message is shorter than announced");
      return tell(MessageKind::landed, landing->peer, landing->name);
    }
  }
}

void Ofi::take(Buffer& buffer, const fi_cq_data_entry& entry) {
  PacketHead head{};
  const std::byte* const data = buffer.bytes;
  std::memcpy(&head, data, std::min(entry.len, sizeof head));
  if (entry.len >= sizeof head && membership_.admits(head)) [[likely]] {
    const std::byte* const payload = data + sizeof head;
    const std::size_t bytes = entry.len - sizeof head;
    if (membership_.is_well_formed(head)) [[likely]] {
      expect_next(head);
      arrived_.push_back({head.sender, envelope_of(head), &buffer, payload, bytes, 0});
      return;
    }
    if (membership_.is_valid_disconnect(head)) {
      take_disconnect(head);
      return receive_into(&buffer);
    }
    ofi::LongAnnouncement announced;
    if (membership_.makes_sense_of_long(head) && bytes == sizeof announced) {
      std::memcpy(&announced, payload, sizeof announced);
      if (Landing* const landing = expect(announced.landing, head.sender, announced.bytes); landing != nullptr) {
        expect_next(head);
        await_landing(*landing);
        return receive_into(&buffer);
      }
    }
  }
  refuse(head);
  receive_into(&buffer);
}

// Messages from one rank to another arrive in the order of their posts, so a message that is missing when the next one
// arrives is lost: its receiver would wait for it, also where several rails share one order.
Ofi::Peer& Ofi::expect_next(const PacketHead& head) {
  Peer& peer = peer_of(head.sender);
  peer.finished = peer.has_left = false;
  if (head.number == static_cast<std::uint16_t>(peer.arrived++)) [[likely]]
    return peer;
  char text[256];
  std::snprintf(text, sizeof text,
                "a message of rank %d on another node to rank %d was lost in the network (libfabric, %s on %s)",
                head.sender, rank_, info_->fabric_attr->prov_name, info_->domain_attr->name);
  fail_(text);
  return peer;
}

// The peer may come back (a session of MPI that begins after another has ended), so the messages that it waits for then
// must have arrived, too.
void Ofi::take_disconnect(const PacketHead& head) {
  Peer& peer = expect_next(head);
  peer.finished = static_cast<std::int32_t>(peer.sent_awaited - head.sequence) <= 0;
  peer.has_left = survives_;
}

// The packet is foreign, or, which is worse, a malformed one of a rank of the job.
void Ofi::refuse(const PacketHead& head) {
  if (!membership_.admits(head)) return note_foreign();
  char text[200];
  std::snprintf(text, sizeof text, "rank %d has received a malformed packet from rank %d on another node (libfabric)",
                rank_, head.sender);
  fail_(text);
}

void Ofi::note_foreign() {
  char text[120];
  std::snprintf(text, sizeof text, "rank %d has dropped foreign packets that came to its port (libfabric)", rank_);
  note_(text);
}

// Reports an event of a long message as a message.
void Ofi::tell(MessageKind kind, int other, std::uint64_t name) {
  const Envelope envelope{.header = {.kind = kind, .source = 0, .tag = 0, .context = 0}, .sequence = 0, .credit = 0};
  arrived_.push_back({other, envelope, nullptr, nullptr, sizeof name, name});
}

// An operation that has failed, or that libfabric has canceled with its connection.
void Ofi::take_error() {
  fi_cq_err_entry error{};
  if (fi_cq_readerr(completions_.get(), &error, 0) < 0) return;
  char detail[192];
  const char* text = fi_cq_strerror(completions_.get(), error.prov_errno, error.err_data, detail, sizeof detail);
  if (text == nullptr || *text == '\0') text = fi_strerror(error.err);
  auto* const operation = static_cast<Operation*>(error.op_context);
  if (operation == nullptr) {  // an injected message; the next error for that peer carries the reason
    if (error.err != FI_ECANCELED) lose_unknown_peer(text);
    return;
  }
  switch (operation->kind) {
    case Kind::send:
      return finish(static_cast<Send*>(operation), text);
    case Kind::forgotten_send:
      return give_back(static_cast<Send*>(operation));
    case Kind::buffer:
      return take_back(*static_cast<Buffer*>(operation), error, text);
    case Kind::arrival:
      return fail_receiving(text);
  }
}

// The message for this buffer does not arrive. Messages of ranks have room in a buffer, so a truncated one is foreign;
// a canceled one is foreign, too, or of a rank that has ended.
void Ofi::take_back(Buffer& buffer, const fi_cq_err_entry& error, const char* text) {
  receive_into(&buffer);
  if (error.err == FI_ETRUNC) return note_foreign();
  if (error.err != FI_ECANCELED) lose_unknown_peer(text);
}

void Ofi::fail_receiving(const char* reason) { fail_(what_ends_receiving(reason).text); }

void Ofi::lose_unknown_peer(const char* reason) { lost_(any_peer, what_ends_receiving(reason).text); }

Why Ofi::what_ends_receiving(const char* reason) const {
  Why why;
  std::snprintf(why.text, sizeof why.text, "rank %d cannot receive from other nodes any more (libfabric, %s on %s: %s)",
                rank_, info_->fabric_attr->prov_name, info_->domain_attr->name, reason);
  return why;
}

void Ofi::read_completions() {
  constexpr std::size_t at_once = 32;
  fi_cq_data_entry entries[at_once];
  const ssize_t count = fi_cq_read(completions_.get(), entries, at_once);
  if (count == -FI_EAVAIL) return take_error();
  for (ssize_t i = 0; i < count; ++i) complete(static_cast<Operation*>(entries[i].op_context), entries[i]);
}

int Ofi::hand_over(int most, Sink& sink) {
  int handed = 0;
  for (; handed < most && !arrived_.empty(); ++handed) {
    const Arrived& next = arrived_.front();
    const auto* const payload = next.buffer != nullptr ? next.payload : reinterpret_cast<const std::byte*>(&next.name);
    if (!sink(next.sender, next.envelope, payload, next.bytes)) break;
    Buffer* const buffer = next.buffer;
    arrived_.pop_front();
    if (buffer != nullptr) receive_into(buffer);
  }
  return handed;
}

int Ofi::poll(int most, Sink sink) {
  const LibraryUse::Inside inside(use_);
  if (!inside) return 0;
  poll_again_ = false;
  int handed = 0;
  try {
    if (!keeping_.empty()) start_kept();
    if (!not_posted_.empty())
      for (Operation* const operation : std::exchange(not_posted_, {})) receive_into(operation);
    read_completions();
    handed = hand_over(most, sink);
  } catch (const std::bad_alloc&) {
    fail_receiving(std::strerror(ENOMEM));
  }
  must_poll_ = false;
  if (readiness_.is_armed()) {
    // Blocked threads are woken for the messages handed over. libfabric must signal further ones anew.
    if (handed != 0) {
      readiness_.set_armed(false);
    } else {
      must_poll_ = !completions_.may_sleep();
    }
  }
  say_left();
  return handed;
}

// Deferred work keeps threads spinning, or wakes them.
void Ofi::say_left() {
  const bool any = must_poll_ || !arrived_.empty() ||
                   std::any_of(waiting_.begin(), waiting_.end(), [this](const Peer* peer) { return has_room(*peer); });
  readiness_.set_left(any);
}

// No descriptor shows what is already there: nothing is armed until a poll has taken it.
bool Ofi::arm() {
  const LibraryUse::Inside inside(use_);
  const bool armed = !readiness_.any_left() && (!inside || completions_.may_sleep());
  readiness_.set_armed(armed);
  return armed;
}

}  // namespace heddle::lln
