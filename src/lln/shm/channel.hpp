// A channel: the one-way street of messages from one rank to another, in shared memory.
//
// It is made by the first message of a pair, so memory grows with the pairs that talk. Two rings:
//
//   slots   128 slots of two cache lines, or 1024 where threads may be so many (see SlotCount). A slot is a whole message
//           if its payload is at most 104 bytes; up to 40 bytes travel in the one line that also says that it is filled.
//   bulk    64 KiB of payload for longer eager messages; their slot says where.
//
// A producer claims the next slot, fills it and then stores its sequence number, position + 1, with release; the consumer
// knows the position it waits for, so a stale number is never taken for a new one (the ring would have to wrap 2^25 times
// between two looks). The consumer publishes how far it has come once per visit, and the producer reads that only when its
// own copy says "full": in a steady flow each message moves its own lines and no other.
//
// Those lines are in the consumer's cache when their turn comes again. An atomic operation waits until all earlier stores have
// their lines, so a thread that sends one message after another would wait for each line in turn. With each message in a slot it asks for the
// lines of one a little further on: 1.4 times the rate of short messages (a 2-core Intel Xeon VM). Those that go
// through the bulk ring are copied for longer than they wait, and gain nothing.
//
// One consumer at a time, under its VNI's protection, and one user of the bulk ring. Slots may be claimed by many threads
// of the sending rank at once, if they all say so (Claiming::concurrent): that costs a compare-and-swap. The order of
// claims is the order in which messages arrive; a thread that loses its core between the claim and the sequence number
// holds up those behind it until it is back, and nobody else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "lln/header.hpp"
#include "lln/shm/heap.hpp"
#include "platform/native.hpp"

namespace heddle::lln::shm {

// User-level threads come by the thousand, each with a message on its way: with fewer slots, a rank that is ahead for a
// while would soon find no room. (1,000 fibers: 1.8 million round trips a second with 128, 3.6 with 1024; a 2-core Intel
// Xeon VM.)
enum class SlotCount : std::uint32_t { usual = 128, many = 1024 };
inline constexpr std::size_t inline_bytes = 104;
inline constexpr std::size_t first_line_bytes = 40;  // of them in the line with the sequence number
inline constexpr std::size_t bulk_bytes = 64 * 1024;
inline constexpr std::size_t eager_bytes = 16 * 1024;  // the longest message that is sent unasked

struct alignas(64) Slot {
  std::atomic<std::uint32_t> sequence;  // position + 1 once filled
  MessageKind kind;
  bool in_bulk;
  std::uint16_t bytes;  // of `payload`
  std::uint64_t context;
  std::int32_t source;
  std::int32_t tag;
  std::byte payload[inline_bytes];  // the message, or a BulkSpan
};
static_assert(sizeof(Slot) == 128 && offsetof(Slot, payload) + first_line_bytes == platform::cache_line);

struct BulkSpan {
  std::uint64_t begin;  // position in the byte stream of the bulk ring; index is begin % bulk_bytes, never wrapping
  std::uint64_t end;    // what the consumer has consumed after this message
  std::uint32_t bytes;
};

struct Channel {
  // In memory of bytes(slots).
  Channel(int from, SlotCount number) : sender(from), slot_count(static_cast<std::uint32_t>(number)) {
    for (std::uint32_t i = 0; i < slot_count; ++i) new (slots() + i) Slot;
  }

  // Written by the consumer.
  alignas(64) std::atomic<std::uint32_t> slots_consumed;
  std::atomic<std::uint64_t> bulk_consumed;
  // Written by the producer: it wants to be woken when there is room (see Doorbell).
  alignas(64) std::atomic<std::uint32_t> producer_waits;
  // Final before the channel is announced.
  std::int32_t sender;  // world rank
  Offset next_inbound;  // list of the receiver's inbound channels
  std::uint32_t slot_count;
  alignas(128) std::byte bulk[bulk_bytes];
  // The slots follow.

  static std::size_t bytes(SlotCount slots) { return sizeof(Channel) + static_cast<std::size_t>(slots) * sizeof(Slot); }
  Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
};
static_assert(sizeof(Channel) % sizeof(Slot) == 0);

// How the threads of a rank come to its producers: one at a time, or as they like; or one at a time, and short messages of
// each thread go by ways of its own (flux.hpp).
enum class Claiming : std::uint8_t { exclusive, concurrent, by_flux };

// The sender's end; private memory of the sending rank.
class Producer {
 public:
  // A slot that is the caller's to fill and to publish, or none.
  struct Claim {
    Slot* slot;
    std::uint32_t position;
  };

  void attach(Channel* channel) {
    slot_count_ = channel->slot_count;
    channel_.store(channel, std::memory_order_release);
  }
  bool attached() const { return channel_.load(std::memory_order_acquire) != nullptr; }
  Channel& channel() const { return *channel_.load(std::memory_order_relaxed); }

  // The next slot; none if the ring is full.
  Claim claim(Claiming claiming) {
    std::uint32_t position = position_.load(std::memory_order_relaxed);
    do {
      if (!has_room(position)) [[unlikely]]
        return {nullptr, position};
      if (claiming != Claiming::concurrent) {
        position_.store(position + 1, std::memory_order_relaxed);
        break;
      }
    } while (!position_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed));
    return {&slot(channel(), position), position};
  }
  // Begins to fetch what a message after next of as many bytes will be written to. Not the next one: its place is what the
  // consumer looks at when it has nothing to do.
  void fetch_ahead(const Claim& claim, std::size_t bytes) const {
    const Slot& next = slot(channel(), claim.position + 2);
    platform::Native::prefetch_for_write(&next);
    if (bytes > first_line_bytes) platform::Native::prefetch_for_write(&next.payload[first_line_bytes]);
  }
  // Begins to fetch the place of the next message, if there has been one: it will come soon.
  void fetch_next() const {
    Channel* const channel = channel_.load(std::memory_order_relaxed);
    if (channel == nullptr) [[unlikely]]
      return;
    platform::Native::prefetch_for_write(&slot(*channel, position_.load(std::memory_order_relaxed)));
  }
  // Hands a claimed slot over; every other field is written.
  static void publish(const Claim& claim) { claim.slot->sequence.store(claim.position + 1, std::memory_order_release); }

  // Room for `bytes` in the bulk ring in one piece, or null if there is none now. One thread at a time.
  std::byte* reserve_bulk(std::uint32_t bytes, BulkSpan& span) {
    const std::uint64_t rest = bulk_bytes - bulk_position_ % bulk_bytes;
    const std::uint64_t begin = rest < bytes ? bulk_position_ + rest : bulk_position_;
    const std::uint64_t end = begin + (bytes + 63) / 64 * 64;
    if (end - bulk_consumed_ > bulk_bytes) {
      bulk_consumed_ = channel().bulk_consumed.load(std::memory_order_acquire);
      if (end - bulk_consumed_ > bulk_bytes) return nullptr;
    }
    span = {begin, end, bytes};
    return channel().bulk + begin % bulk_bytes;
  }
  void commit_bulk(const BulkSpan& span) { bulk_position_ = span.end; }

 private:
  // A position that other claims have overtaken looks as if it had room, and then the swap fails.
  bool has_room(std::uint32_t position) {
    if (static_cast<std::int32_t>(position - consumed_.load(std::memory_order_acquire)) <
        static_cast<std::int32_t>(slot_count_)) [[likely]]
      return true;
    const std::uint32_t consumed = channel().slots_consumed.load(std::memory_order_acquire);
    consumed_.store(consumed, std::memory_order_release);
    return static_cast<std::int32_t>(position - consumed) < static_cast<std::int32_t>(slot_count_);
  }

  // That of a channel which is there.
  Slot& slot(Channel& channel, std::uint32_t position) const { return channel.slots()[position & (slot_count_ - 1)]; }

  std::atomic<Channel*> channel_{nullptr};
  std::uint32_t slot_count_ = 0;  // the channel's; that one's line is often written to
  std::atomic<std::uint32_t> position_{0};
  std::atomic<std::uint32_t> consumed_{0};  // as last read
  std::uint64_t bulk_position_ = 0;
  std::uint64_t bulk_consumed_ = 0;
};

// The receiver's end.
class Consumer {
 public:
  struct Payload {
    const std::byte* at;
    std::size_t bytes;
  };

  explicit Consumer(Channel* channel) : channel_(channel), slot_count_(channel->slot_count) {}
  Channel& channel() const { return *channel_; }

  // Whether a message waits; any thread, a hint.
  bool ready() const {
    const std::uint32_t position = position_.load(std::memory_order_relaxed);
    return slot(position).sequence.load(std::memory_order_relaxed) == position + 1;
  }
  // How many have been taken; any thread.
  std::uint32_t taken() const { return position_.load(std::memory_order_relaxed); }
  // The next message, or null.
  const Slot* front() const {
    const std::uint32_t position = position_.load(std::memory_order_relaxed);
    const Slot& next = slot(position);
    return next.sequence.load(std::memory_order_acquire) == position + 1 ? &next : nullptr;
  }
  // The payload of a message, where it lies.
  Payload payload_of(const Slot& slot) const {
    if (!slot.in_bulk) [[likely]]
      return {slot.payload, slot.bytes};
    BulkSpan span;
    std::memcpy(&span, slot.payload, sizeof span);
    return {channel_->bulk + span.begin % bulk_bytes, span.bytes};
  }
  // Of a stream of messages, begins to fetch one that is a little further on: its line is in the producer's cache, and to wait
  // for it costs more than all the rest (16 to 20 million messages a second with one thread; a 2-core Intel Xeon VM; 6 to
  // 12 slots ahead are as good).
  void fetch_ahead() const { platform::Native::prefetch(&slot(position_.load(std::memory_order_relaxed) + 8)); }
  void pop(const Slot& slot) {
    if (slot.in_bulk) {
      BulkSpan span;
      std::memcpy(&span, slot.payload, sizeof span);
      bulk_position_ = span.end;
    }
    position_.store(position_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // Tells the producer how far we have come; once per visit.
  void publish() {
    channel_->bulk_consumed.store(bulk_position_, std::memory_order_release);
    channel_->slots_consumed.store(position_.load(std::memory_order_relaxed), std::memory_order_release);
  }

 private:
  const Slot& slot(std::uint32_t position) const { return channel_->slots()[position & (slot_count_ - 1)]; }

  Channel* channel_;
  std::uint32_t slot_count_;
  std::atomic<std::uint32_t> position_{0};  // written by the draining thread, glanced at by others
  std::uint64_t bulk_position_ = 0;
};

}  // namespace heddle::lln::shm
