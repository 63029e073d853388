// The shared-memory network: a rank's end of all its channels.
//
// A rank has an endpoint per VNI. Endpoints talk only to those of the same VNI. Their boxes lie at a place in the heap that
// everybody knows; channels are made by their senders and hung into the receiver's box. The doorbell is the rank's: that of
// its first box. Sending and polling are for one thread at a time (the VNI's protection); `arrived`, the doorbell and,
// where claiming is concurrent, `inject` are for any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "lln/header.hpp"
#include "lln/shm/box.hpp"
#include "lln/shm/channel.hpp"
#include "lln/shm/flux.hpp"
#include "lln/shm/heap.hpp"
#include "platform/native.hpp"

namespace heddle::lln::shm {

inline constexpr int most_vnis = 64;         // of a rank
inline constexpr int most_asked_models = 7;  // of a job, beside that of its ranks

// What the ranks of a job know of each other; at the start of the heap, the boxes behind it.
struct alignas(128) Common {
  std::atomic<std::uint32_t> waiting;  // threads that wait awake (safety/patience.hpp)
  std::atomic<std::uint32_t> vnis;     // and which ways, of every rank (p2p/presets.cpp); 0: none has come
  std::atomic<std::uint64_t> asked_models[most_asked_models];  // p2p/asked_models.hpp; 0: none yet
  std::atomic<std::uint32_t> reaching;  // ranks that have come and whose heavy fences reach the others' light ones
};

inline Common& common_of(std::byte* heap, std::size_t bytes) {
  const Heap view(heap, bytes, sizeof(Common));
  return *view.at<Common>(view.reserved());
}

// Which endpoint of the job one is.
struct Place {
  int rank;
  int ranks;
  int vni;
};

// What no other use may take from the heap: a channel in each direction for every pair, of one VNI.
constexpr std::size_t bytes_for_channels(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  return n * n * (std::size_t{256} << 10);
}
// Sparse size of the heap for a job: channels of every pair, pipes, and room for collectives.
constexpr std::size_t heap_bytes(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  return bytes_for_channels(ranks) + n * (std::size_t{64} << 20) + (std::size_t{256} << 20);
}

// Whether it was sent, or why not: the channel has no room now (try again after the peer has moved), or the segment has none for
// a channel. That is never so for an answer: who opens a channel brings the memory for the one back.
enum class Post : std::uint8_t { done, full, no_memory };

// Messages that one visit takes at most from one channel, so that no peer starves the others.
inline constexpr int visit_messages = 64;
// Where one visit has found so many, there are likely more.
inline constexpr int stream = 4;

class Endpoint {
 public:
  Endpoint(std::byte* heap, std::size_t bytes, const Place& place, Claiming claiming, SlotCount slots);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Heap& heap() { return heap_; }
  Doorbell& own_bell() { return bell(place_.rank); }
  Common& common() { return *heap_.at<Common>(heap_.reserved()); }

  // Sends a message whose payload `fill(std::byte*)` writes; at most eager_bytes.
  template <class Fill>
  Post post(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    Producer& producer = producers_[peer];
    if (!producer.attached()) [[unlikely]] {
      if (!open(peer)) return Post::no_memory;
    }
    return bytes <= inline_bytes && !is_stamped(header) ? post_inline(peer, header, bytes, fill)
                                                        : post_bulk(peer, header, bytes, fill);
  }

  // Any thread, unprotected: the same for at most inline_bytes, once a first message has opened the way to the peer.
  template <class Fill>
  Post inject(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    if (!producers_[peer].attached()) [[unlikely]]
      return Post::full;
    return post_inline(peer, header, bytes, fill);
  }

  // Any thread, unprotected, where claiming is by flux: the same for at most flux_bytes. False: not this way, now.
  template <class Fill>
  bool send_by_flux(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    if (!fluxes_->send(peer, header, bytes, fill)) return false;
    wake(peer);
    return true;
  }

  // Hands waiting messages, at most `most` of each channel, to sink(sender, header, payload, bytes), then frees their
  // places; the number of messages.
  //
  // A visit that looks until nothing is left takes the line of the next message from its sender, who then has to wait for
  // it. One of many that take a few each leaves it where it is; and since answers will follow, and a peer that has sent
  // several messages does not just look for one, it begins to fetch their place.
  template <class Sink>
  int poll(int most, Sink&& sink) {
    if (any_new()) [[unlikely]]
      admit();
    int messages = 0;
    const int n = consumer_count_.load(std::memory_order_relaxed);
    for (int i = 0; i < n; ++i) {
      Consumer& consumer = *consumers_[i];
      const Slot* slot = consumer.front();
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
      if (most - left > 1 && most < visit_messages) producers_[consumer.channel().sender].fetch_next();
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

  // Whether poll() would find something; any thread, a hint.
  bool arrived() const {
    if (any_new()) return true;
    const int n = consumer_count_.load(std::memory_order_acquire);
    for (int i = 0; i < n; ++i)
      if (consumers_[i]->ready()) return true;
    return fluxes_ != nullptr && fluxes_->arrived();
  }

  // How many messages have been taken; any thread.
  std::uint32_t taken() const {
    if (fluxes_ != nullptr) return fluxes_->taken();
    std::uint32_t taken = 0;
    const int n = consumer_count_.load(std::memory_order_acquire);
    for (int i = 0; i < n; ++i) taken += consumers_[i]->taken();
    return taken;
  }

  // After a store that a sleeping peer would want to see.
  void wake(int peer) {
    platform::Native::light_fence();
    if (bell(peer).asleep.load(std::memory_order_relaxed) != 0) [[unlikely]]
      ring(peer);
  }

  // Light fences are full ones until all ranks have come and every one has heavy fences that reach them. Called now and then, where
  // it costs nothing: when a channel appears, before a thread sleeps.
  void agree_on_fences() {
    if (common().reaching.load(std::memory_order_acquire) == static_cast<std::uint32_t>(place_.ranks))
      platform::Native::fence_fully(false);
  }

  // A full channel's sender asks to be woken when there is room.
  void want_room(int peer) {
    if (producers_[peer].attached()) producers_[peer].ask_for_room();
  }

 private:
  template <class Fill>
  Post post_inline(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    Producer& producer = producers_[peer];
    const Producer::Claim claim = producer.claim(slot_claiming_);
    if (claim.slot == nullptr) [[unlikely]]
      return Post::full;
    producer.fetch_ahead(claim, bytes);
    fill(claim.slot->payload);
    claim.slot->in_bulk = false;
    claim.slot->bytes = static_cast<std::uint16_t>(bytes);
    hand_over(peer, header, claim);
    return Post::done;
  }
  template <class Fill>
  Post post_bulk(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    Producer& producer = producers_[peer];
    BulkSpan span;
    std::byte* room = producer.reserve_bulk(static_cast<std::uint32_t>(bytes), span);
    if (room == nullptr) [[unlikely]]
      return Post::full;
    const Producer::Claim claim = producer.claim(slot_claiming_);
    if (claim.slot == nullptr) [[unlikely]]
      return Post::full;
    producer.commit_bulk(span);
    fill(room);
    std::memcpy(claim.slot->payload, &span, sizeof span);
    if (is_stamped(header)) {
      const std::uint64_t now = stamp();
      std::memcpy(claim.slot->payload + stamp_in_slot, &now, sizeof now);
    }
    claim.slot->in_bulk = true;
    hand_over(peer, header, claim);
    return Post::done;
  }
  void hand_over(int peer, const Header& header, const Producer::Claim& claim) {
    claim.slot->kind = header.kind;
    claim.slot->context = header.context;
    claim.slot->source = header.source;
    claim.slot->tag = header.tag;
    Producer::publish(claim);
    wake(peer);
  }

  // Whether a message needs an order with those of fluxes. It has room for its stamp if it goes through the bulk ring.
  bool is_stamped(const Header& header) const {
    return claiming_ == Claiming::by_flux && header.kind <= MessageKind::rts;
  }
  bool any_new() const {
    return own_box().inbound.load(std::memory_order_relaxed) != known_inbound_.load(std::memory_order_relaxed);
  }
  // Frees the places of what has been taken.
  void give_back(Consumer& consumer) {
    consumer.publish();
    if (consumer.owes_wakeup()) [[unlikely]]
      bell(consumer.channel().sender).ring();
  }

  Box& box(int rank) const { return boxes_[place_.vni * place_.ranks + rank]; }
  Box& own_box() const { return box(place_.rank); }
  Doorbell& bell(int rank) const { return boxes_[rank].doorbell; }
  void ring(int peer);
  bool open(int peer);
  Consumer* channel_from(int peer) const;
  void admit();

  Heap heap_;
  Box* boxes_;
  Place place_;
  Claiming claiming_;
  sync::Claiming slot_claiming_;           // what that means for slots
  SlotCount slots_;                        // of the channels that we make
  std::unique_ptr<Producer[]> producers_;  // by world rank
  std::atomic<Offset> known_inbound_{nowhere};
  std::atomic<int> consumer_count_{0};
  std::unique_ptr<std::unique_ptr<Consumer>[]> consumers_;  // in the order in which they appeared
  std::unique_ptr<Fluxes> fluxes_;                          // where claiming is by flux
};

}  // namespace heddle::lln::shm
