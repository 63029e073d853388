// Fluxes: a separate way for each thread that sends to a rank (Díaz-Martín 2014, section IV and Fig. 6).
//
// A flux is a fastbuffer of two boxes from one thread to one rank (base/sync/fast_buffer.hpp), made by the thread's first
// short message to that rank: threads of a rank then share no line when they send, and memory grows with the pairs that
// communicate. A message that is too long, or finds both boxes full, goes through the channel, with the VNI's lock
// held. A thread that ends leaves its fluxes to the next one that needs one to that rank.
//
// Two ways, and many fluxes, need an order. The paper numbers the messages of each flux, and takes those of different
// threads as concurrent "even in the case that the messages had been emitted physically one after the other". The
// standard (MPI 5.0, section 3.5) only says that threads may have no order; where they synchronize they have one. So
// messages carry a stamp instead (stamp.hpp), and the receiver takes the smallest. A receiver that has seen a message
// can see all that was sent before it; therefore it polls again until it finds no smaller stamp
// (base/sync/oldest_first.hpp).
//
// `send` is for any thread; the receiver holds its VNI's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/node/node.hpp"
#include "base/platform/native.hpp"
#include "base/sync/fast_buffer.hpp"
#include "base/sync/oldest_first.hpp"
#include "network/header.hpp"
#include "network/shm/box.hpp"
#include "network/shm/channel.hpp"
#include "network/shm/stamp.hpp"

namespace heddle::lln::shm {

inline constexpr std::size_t flux_bytes = 1024;  // the longest message of a fastbuffer (the paper's)

// The start of each box. All messages are eager ones.
struct FluxHeader {
  std::uint64_t stamp;
  std::uint64_t context;
  std::int32_t source;
  std::int32_t tag;
};

struct Flux {
  explicit Flux(int from) : sender(from) {}

  Offset next = nowhere;  // list of the receiver; final before the flux is in it
  std::int32_t sender;    // world rank
  sync::FastBuffer<platform::Native, sizeof(FluxHeader) + flux_bytes> boxes;
};

// The place of the stamp of a message in a channel, if it is one that is matched: the payload of those is outside the
// slot.
inline constexpr std::size_t stamp_in_slot = sizeof(BulkSpan);
static_assert(stamp_in_slot + sizeof(std::uint64_t) <= first_line_bytes);

// Fluxes whose threads have ended.
struct FluxPool;

// All fluxes of an endpoint, both directions.
class Fluxes {
 public:
  // `boxes` are those of the endpoint's VNI, by world rank.
  Fluxes(node::Node& node, Box* boxes);
  ~Fluxes();
  Fluxes(const Fluxes&) = delete;
  Fluxes& operator=(const Fluxes&) = delete;

  // Sends a message of at most flux_bytes that `fill(std::byte*)` writes. False: not this way, now.
  template <class Fill>
  bool send(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    Flux* const flux = own(peer);
    if (flux == nullptr) [[unlikely]]
      return false;
    auto* const payload = flux->boxes.claim();
    if (payload == nullptr) return false;
    const FluxHeader head{stamp(), header.context, header.source, header.tag};
    std::memcpy(payload->data(), &head, sizeof head);
    fill(payload->data() + sizeof head);
    flux->boxes.publish(static_cast<std::uint32_t>(sizeof head + bytes));
    return true;
  }

  // A channel whose messages have an order with those of its sender's fluxes.
  void join(Consumer& channel) { source_of(channel.channel().sender).channel = &channel; }
  // Hands waiting messages to sink(sender, header, payload, bytes) in the order of their stamps, at most `most` of each
  // sender; returns their number. catch_up() joins channels that have appeared, emptied(channel) frees the places of
  // messages that have been taken from one.
  template <class CatchUp, class Sink, class Emptied>
  int poll(int most, CatchUp&& catch_up, Sink&& sink, Emptied&& emptied) {
    int messages = 0;
    catch_up();
    admit();
    for (int i = 0; i < source_count_.load(std::memory_order_relaxed); ++i) {
      Source& source = *sources_[i];
      bool from_channel = false;
      int taken = 0;
      for (; taken < most; ++taken) {
        const Front front = oldest(source, catch_up);
        if (front.slot != nullptr) {
          from_channel = true;
          take(*source.channel, *front.slot, sink);
        } else if (front.end != nullptr) {
          take(*front.end, sink);
        } else {
          break;
        }
      }
      if (from_channel) emptied(*source.channel);
      source.taken.store(source.taken.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(taken),
                         std::memory_order_relaxed);
      messages += taken;
    }
    return messages;
  }

  // Any thread, a hint: true if poll() would find something in a flux; the number of messages taken.
  bool arrived() const;
  std::uint32_t taken() const;

 private:
  // Our end of a flux to us.
  struct End {
    explicit End(Flux* f) : flux(f) {}
    Flux* flux;
    End* next = nullptr;
  };
  // The ways from one rank.
  struct Source {
    Consumer* channel = nullptr;
    std::atomic<End*> ends{nullptr};
    std::atomic<std::uint32_t> taken{0};
  };
  // The next message to take, if there is one.
  struct Front {
    std::uint64_t stamp = ~std::uint64_t{0};
    const Slot* slot = nullptr;
    End* end = nullptr;
  };

  template <class CatchUp>
  Front oldest(Source& source, CatchUp&& catch_up) {
    return sync::oldest<Front>([&](Front& front) { return poll_front(source, front); },
                               [&] {
                                 catch_up();
                                 admit();
                               });
  }
  // True if a message older than `front` was found; the oldest replaces it.
  [[gnu::always_inline]] static bool poll_front(const Source& source, Front& front) {
    bool older = false;
    if (source.channel != nullptr) {
      const Slot* const slot = source.channel->front_or_fetch();
      if (slot != nullptr && stamp_of(*slot) < front.stamp) {
        front = {stamp_of(*slot), slot, nullptr};
        older = true;
      }
    }
    for (End* end = source.ends.load(std::memory_order_relaxed); end != nullptr; end = end->next) {
      std::uint32_t bytes;
      const auto* const payload = end->flux->boxes.front(bytes);
      if (payload == nullptr) continue;
      FluxHeader head;
      std::memcpy(&head, payload->data(), sizeof head);
      if (head.stamp >= front.stamp) continue;
      front = {head.stamp, nullptr, end};
      older = true;
    }
    return older;
  }
  // Messages that refer to others, and match none, have no order.
  static std::uint64_t stamp_of(const Slot& slot) {
    if (slot.kind > MessageKind::rts) return 0;
    std::uint64_t stamp;
    std::memcpy(&stamp, slot.payload + stamp_in_slot, sizeof stamp);
    return stamp;
  }
  template <class Sink>
  static void take(Consumer& channel, const Slot& slot, Sink&& sink) {
    const Consumer::Payload payload = channel.payload_of(slot);
    sink(channel.channel().sender, Header{slot.kind, slot.source, slot.tag, slot.context}, payload.at, payload.bytes);
    channel.pop(slot);
  }
  template <class Sink>
  static void take(End& end, Sink&& sink) {
    std::uint32_t bytes;
    const std::byte* const payload = end.flux->boxes.front(bytes)->data();
    FluxHeader head;
    std::memcpy(&head, payload, sizeof head);
    sink(end.flux->sender, Header{MessageKind::eager, head.source, head.tag, head.context}, payload + sizeof head,
         bytes - sizeof head);
    end.flux->boxes.pop();
  }

  // The calling thread's flux to a peer; null if the segment is full, or the peer on another node.
  Flux* own(int peer);
  Flux* make(int peer);
  // Fluxes that have appeared since the last call join.
  void admit() {
    if (any_new()) [[unlikely]]
      admit_new();
  }
  bool any_new() const { return boxes_[rank_].fluxes.is_beyond(known_.load(std::memory_order_relaxed)); }
  void admit_new();
  Source& source_of(int rank);

  Heap& heap_;
  const node::Place place_;
  Box* boxes_;
  int rank_;
  std::shared_ptr<FluxPool> pool_;
  std::atomic<Offset> known_{nowhere};
  std::atomic<int> source_count_{0};
  std::unique_ptr<std::unique_ptr<Source>[]> sources_;  // in the order in which they appeared
  std::unique_ptr<Source*[]> source_by_rank_;
};

}  // namespace heddle::lln::shm
