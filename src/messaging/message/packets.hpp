// The ways by which the outbox sends (outbox/strategy.hpp). Messages to a peer of this node leave one by one. Messages to another node
// share packets, and long ones leave in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/instruments/cells.hpp"
#include "base/instruments/ticks.hpp"
#include "messaging/message/outbox/strategy.hpp"
#include "messaging/message/vni_state.hpp"
#include "network/packet.hpp"

namespace heddle::message {

inline void copy_payload(const OutboxItem& item, std::byte* to) { std::memcpy(to, item.payload, item.bytes); }

class VniState::LocalPackets final : public Packets {
 public:
  LocalPackets(VniState& state, int peer, Wakeups& wakeups) : state_(state), peer_(peer), wakeups_(wakeups) {}

  bool any_pieces() const { return false; }
  std::size_t bytes(const OutboxItem& item) const override {
    return item.request != nullptr ? state_.local_.packet_bytes(*item.request) : item.bytes;
  }
  std::size_t fit(const OutboxItem&) override { return 1; }
  bool post(const OutboxItem& item, std::size_t) override {
    if (item.request == nullptr) {
      const auto fill = [&](std::byte* to) { copy_payload(item, to); };
      return state_.route_.post(peer_, item.header, item.bytes, fill) == lln::Posted::done;
    }
    if (state_.is_held_back(*item.request)) return false;
    const lln::Posted posted = state_.local_.start(*item.request, wakeups_);
    if (posted == lln::Posted::no_memory) state_.fail(*item.request, wakeups_);
    return posted != lln::Posted::busy;
  }
  bool post_piece() override { return false; }

 private:
  VniState& state_;
  const int peer_;
  Wakeups& wakeups_;
};

class VniState::RemotePackets final : public Packets {
 public:
  RemotePackets(VniState& state, int peer, Wakeups& wakeups) : state_(state), peer_(peer), wakeups_(wakeups) {}

  bool any_pieces() const { return any_pieces_; }
  std::size_t bytes(const OutboxItem& item) const override {
    return item.request != nullptr ? state_.remote_.packet_bytes(*item.request) : item.bytes;
  }
  std::size_t fit(const OutboxItem& first) override {
    lln::Packet& packet = state_.route_.begin_packet(peer_);
    for (const OutboxItem* item = &first; item != nullptr && add(packet, *item);) item = item->next;
    return packet.size() == 0 ? 1 : packet.size();  // the first one waits for credit: post it, so that it is refused
  }
  bool post(const OutboxItem& first, std::size_t n) override { return n == 1 ? post_one(first) : post_all(first, n); }
  bool post_piece() override {
    const bool posted = state_.remote_.streams().post_next(peer_, state_.outgoing_.outbox().pieces_ahead(), wakeups_);
    any_pieces_ |= posted;
    return posted;
  }

 private:
  bool add(lln::Packet& packet, const OutboxItem& item) {
    if (item.request != nullptr) return state_.remote_.add(packet, *item.request);
    return packet.add(item.header, item.bytes) == lln::Packet::Added::yes;
  }
  // True if the message is finished with: it was sent, or its send has failed.
  bool post_one(const OutboxItem& item) {
    const std::uint64_t since = item.since;
    lln::Posted posted;
    if (item.request == nullptr) {
      const auto fill = [&](std::byte* to) { copy_payload(item, to); };
      posted = state_.route_.post(peer_, item.header, item.bytes, fill);
      if (posted != lln::Posted::done) return false;
    } else {
      posted = state_.remote_.start(*item.request, wakeups_);
      if (posted == lln::Posted::no_memory) state_.fail(*item.request, wakeups_);
      if (posted == lln::Posted::busy) return false;
    }
    note_waited(since);
    return true;
  }
  bool post_all(const OutboxItem& first, std::size_t n) {
    const OutboxItem* item = nullptr;
    const auto write = [&](std::size_t i, std::byte* to) {
      item = i == 0 ? &first : item->next;  // starts again with the first one if a rail has refused the packet
      if (item->request == nullptr) return copy_payload(*item, to);
      state_.remote_.write(*item->request, kind_in_packet(i), to);
    };
    if (state_.route_.post_packet(peer_, write) != lln::Posted::done) return false;
    item = &first;
    for (std::size_t i = 0; i < n; ++i) {
      note_waited(item->since);
      // Reads the next item first: a thread that waits may release a send that has left. The item belongs to the outbox.
      if (item->request != nullptr) state_.remote_.note_left(*item->request, kind_in_packet(i), wakeups_);
      item = item->next;
    }
    return true;
  }
  lln::MessageKind kind_in_packet(std::size_t i) const { return state_.route_.packet()[i].header.kind; }
  void note_waited(std::uint64_t since) {
    instruments::Cell* const cell = since == 0 ? nullptr : state_.counters_.held();
    if (cell == nullptr) return;
    cell->add(instruments::Count::waited);
    cell->add(instruments::Count::waited_ticks, instruments::ticks() - since);
  }

  VniState& state_;
  const int peer_;
  Wakeups& wakeups_;
  bool any_pieces_ = false;
};

}  // namespace heddle::message
