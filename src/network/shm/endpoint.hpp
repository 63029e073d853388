// The shared-memory network: a rank's end of all its channels.
//
// A rank has an endpoint per VNI. Endpoints communicate only with those of the same VNI. Their boxes lie at a known
// place in the heap; senders make channels and attach them to the receiver's box. Sending and polling are for one
// thread at a time (the VNI's lock); `arrived` and, where claiming is concurrent, `inject` are for any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/node/node.hpp"
#include "base/platform/native.hpp"
#include "base/platform/zeroed_array.hpp"
#include "network/header.hpp"
#include "network/network.hpp"
#include "network/shm/box.hpp"
#include "network/shm/channel.hpp"
#include "network/shm/flux.hpp"

namespace heddle::lln::shm {

// Bytes at Node::for_networks: a box for every VNI of every rank.
constexpr std::size_t box_bytes(int ranks) { return static_cast<std::size_t>(ranks) * most_vnis * sizeof(Box); }

// A poll that has found so many messages expects more.
inline constexpr int stream = 4;

class Endpoint {
 public:
  Endpoint(node::Node& node, int vni, Claiming claiming, SlotCount slots);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Heap& heap() { return heap_; }

  // True if there is a channel to the peer; making it, if there is memory.
  bool is_open(int peer) const { return producers_[peer].attached(); }
  bool open(int peer);

  // Sends a message whose payload `fill(std::byte*)` writes; at most eager_bytes. The channel is open.
  template <class Fill>
  Posted post(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    if (bytes <= inline_bytes && !is_stamped(header)) return post_inline(peer, header, bytes, fill);
    return post_bulk(peer, header, bytes, [&](const Producer::Claim& claim, const Producer::Room& room) {
      fill(room.at);
      say_where(claim, room);  // last: the receiver polls that line
    });
  }
  // The same for a message of at least early_notification_bytes, of which `fill(std::byte*, from, n)` writes n bytes.
  template <class Fill>
  Posted post_notified_early(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    return post_bulk(peer, header, bytes, [&](const Producer::Claim& claim, const Producer::Room& room) {
      const std::size_t first = first_part(bytes);
      Producer::fetch(room.at, first);
      fill(room.at, 0, first);
      say_where(claim, room);
      Producer::notify_early(claim);
      Producer::fetch(room.at + first, bytes - first);
      fill(room.at + first, first, bytes - first);
    });
  }

  // Any thread, lock-free: the same for at most inline_bytes, once a first message has opened the way to the peer.
  template <class Fill>
  Posted inject(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    if (!producers_[peer].attached()) [[unlikely]]
      return Posted::busy;
    return post_inline(peer, header, bytes, fill);
  }

  // Any thread, lock-free, where claiming is by flux: the same for at most flux_bytes. False: not this way, now.
  template <class Fill>
  bool send_by_flux(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    if (!fluxes_->send(peer, header, bytes, fill)) return false;
    wake(peer);
    return true;
  }

  // Hands waiting messages, at most `most` of each channel, to sink(sender, header, payload, bytes), then frees their
  // places; returns the number of messages.
  //
  // A poll that continues until nothing is left takes the line of the next message from its sender, which then has to
  // wait for it. A poll of one among many peers that takes a few messages leaves the line there. Since answers will
  // follow, and a peer that has sent several messages is not polling for just one, it prefetches their place.
  template <class Sink>
  int poll(int most, Sink&& sink) {
    if (any_new()) [[unlikely]]
      admit();
    int messages = 0;
    const int n = consumer_count_.load(std::memory_order_relaxed);
    for (int i = 0; i < n; ++i) {
      Consumer& consumer = *consumers_[i];
      const Slot* slot = consumer.front_or_fetch();
      if (slot == nullptr) continue;
      int left = most;
      do {
        if (most - left >= stream) consumer.fetch_ahead();
        const Consumer::Payload payload = consumer.payload_of(*slot);
        sink(consumer.channel().sender, Header{slot->kind, slot->source, slot->tag, slot->context}, payload.at,
             payload.bytes);
        consumer.pop(*slot);
        ++messages;
        if (--left == 0) break;
        slot = consumer.front();
      } while (slot != nullptr);
      if (most - left > 1 && most < poll_batch) producers_[consumer.channel().sender].fetch_next();
      give_back(consumer);
    }
    return messages;
  }
  bool has_fluxes() const { return fluxes_ != nullptr; }
  // The same where short messages come by fluxes.
  template <class Sink>
  int poll_fluxes(int most, Sink&& sink) {
    return fluxes_->poll(
        most,
        [this] {
          if (any_new()) [[unlikely]]
            admit();
        },
        sink, [this](Consumer& consumer) { give_back(consumer); });
  }

  // True if poll() would find something; any thread, a hint.
  bool arrived() const {
    if (any_new()) return true;
    const int n = consumer_count_.load(std::memory_order_acquire);
    for (int i = 0; i < n; ++i)
      if (consumers_[i]->ready()) return true;
    return fluxes_ != nullptr && fluxes_->arrived();
  }

  // Any thread of the sender: notes what it has sent to the peer (SlotProducer::note_claims).
  void note_claims(int peer) { producers_[peer].note_claims(); }
  // With the VNI's lock held: from now on looks for all that has been noted so. True once it has been taken.
  void look_for_noted() {
    if (any_new()) admit();
    for_each_consumer([](Consumer& consumer) { consumer.look_for_noted(); });
  }
  bool has_taken_noted() const {
    bool taken = true;
    for_each_consumer([&](const Consumer& consumer) { taken &= consumer.has_taken_noted(); });
    return taken;
  }

  // False if no channel leads here; any thread.
  bool is_in_use() const { return any_new() || consumer_count_.load(std::memory_order_relaxed) != 0; }

  // The number of messages taken; any thread.
  std::uint32_t taken() const {
    if (fluxes_ != nullptr) return fluxes_->taken();
    std::uint32_t taken = 0;
    const int n = consumer_count_.load(std::memory_order_acquire);
    for (int i = 0; i < n; ++i) taken += consumers_[i]->taken();
    return taken;
  }

  // After a store for which a blocked peer must wake.
  void wake(int peer) {
    platform::Native::light_fence();
    if (bell(peer).blocked.load(std::memory_order_relaxed) != 0) [[unlikely]]
      ring(peer);
  }

  // A full channel's sender asks to be woken when there is room.
  void want_room(int peer) {
    if (producers_[peer].attached()) producers_[peer].ask_for_room();
  }

 private:
  template <class Fill>
  Posted post_inline(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    Producer& producer = producers_[peer];
    const Producer::Claim claim = producer.claim(slot_claiming_);
    if (claim.slot == nullptr) [[unlikely]]
      return Posted::busy;
    producer.fetch_ahead(claim, bytes);
    fill(claim.slot->payload);
    claim.slot->place = Place::slot;
    claim.slot->bytes = static_cast<std::uint16_t>(bytes);
    hand_over(peer, header, claim);
    return Posted::done;
  }
  // write(claim, room) writes the payload, and says where it is.
  template <class Write>
  Posted post_bulk(int peer, const Header& header, std::size_t bytes, Write&& write) {
    Producer& producer = producers_[peer];
    const Producer::Room room = producer.reserve(static_cast<std::uint32_t>(bytes), heap_);
    if (room.at == nullptr) [[unlikely]]
      return Posted::busy;
    const Producer::Claim claim = producer.claim(slot_claiming_);
    if (claim.slot == nullptr) [[unlikely]]
      return Posted::busy;
    producer.commit(room);
    write(claim, room);
    if (is_stamped(header)) {
      const std::uint64_t now = stamp();
      std::memcpy(claim.slot->payload + stamp_in_slot, &now, sizeof now);
    }
    hand_over(peer, header, claim);
    return Posted::done;
  }
  static void say_where(const Producer::Claim& claim, const Producer::Room& room) {
    std::memcpy(claim.slot->payload, &room.span, sizeof room.span);
    claim.slot->place = room.place;
  }
  void hand_over(int peer, const Header& header, const Producer::Claim& claim) {
    claim.slot->kind = header.kind;
    claim.slot->context = header.context;
    claim.slot->source = header.source;
    claim.slot->tag = header.tag;
    Producer::publish(claim);
    wake(peer);
  }

  // True if a message needs an order with those of fluxes. It has room for its stamp if its payload is outside its
  // slot.
  bool is_stamped(const Header& header) const {
    return claiming_ == Claiming::by_flux && header.kind <= MessageKind::rts;
  }
  template <class F>
  void for_each_consumer(F&& f) const {
    const int n = consumer_count_.load(std::memory_order_relaxed);
    for (int i = 0; i < n; ++i) f(*consumers_[i]);
  }
  bool any_new() const { return own_box().inbound.is_beyond(known_inbound_.load(std::memory_order_relaxed)); }
  // Frees the places of taken messages.
  void give_back(Consumer& consumer) {
    consumer.publish();
    if (consumer.owes_wakeup()) [[unlikely]]
      bell(consumer.channel().sender).ring();
  }

  Box& own_box() const { return boxes_[rank_]; }
  node::Doorbell& bell(int rank) const { return bells_[rank].doorbell; }
  void ring(int peer);
  Consumer* channel_from(int peer) const;
  void admit();

  node::Node& node_;
  Heap& heap_;
  node::Bell* bells_;  // by rank
  Box* boxes_;         // of this VNI, by rank
  int rank_;
  Claiming claiming_;
  sync::Claiming slot_claiming_;               // the same for slots
  SlotCount slots_;                            // of the channels that we make
  platform::ZeroedArray<Producer> producers_;  // by world rank
  std::atomic<Offset> known_inbound_{nowhere};
  std::atomic<int> consumer_count_{0};
  platform::ZeroedArray<Consumer*> consumers_;  // in the order in which they appeared
  std::unique_ptr<Fluxes> fluxes_;              // where claiming is by flux
};

}  // namespace heddle::lln::shm
