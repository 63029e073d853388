// A channel: the one-way street of messages from one rank to another, in shared memory.
//
// The first message of a pair makes it, so memory grows with the pairs that communicate. Two rings:
//
//   slots   128 slots of two cache lines, or 1024 where threads may be so many (see SlotCount). A slot is a whole
//           message if its payload is at most 104 bytes; up to 40 bytes travel in the one line that also says that it
//           is filled.
//   bulk    64 KiB of payload for longer eager messages; their slot says where. Ranks that answer each other use
//           cells instead (cells.hpp).
//
// How slots and bulk are claimed, handed over and back: base/sync/slot_ring.hpp, base/sync/byte_ring.hpp.
//
// Those lines are in the consumer's cache when their turn comes again. An atomic operation waits until all earlier
// stores have their lines, so a thread that sends one message after another would wait for each line in turn. With each
// message in a slot it prefetches the lines of a later one: 1.4 times the rate of short messages (a 2-core Intel Xeon
// VM). Messages through the bulk ring are copied for longer than they wait, and gain nothing.
//
// One consumer at a time, with its VNI's lock held, and one user of the bulk ring and the cells. Many threads of the
// sending rank may claim slots at once, if all use Claiming::concurrent: that costs a compare-and-swap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/node/heap.hpp"
#include "base/platform/native.hpp"
#include "base/sync/byte_ring.hpp"
#include "base/sync/slot_ring.hpp"
#include "network/header.hpp"
#include "network/shm/cells.hpp"

namespace heddle::lln::shm {

// User-level threads come by the thousand, each with a message in flight: with fewer slots, a rank that is ahead for a
// while would soon find no room. (1,000 fibers: 1.8 million round trips a second with 128, 3.6 with 1024; a 2-core
// Intel Xeon VM.)
enum class SlotCount : std::uint32_t { usual = 128, many = 1024 };
inline constexpr std::size_t inline_bytes = 104;
inline constexpr std::size_t first_line_bytes = 40;  // of them in the line with the sequence number
inline constexpr std::size_t bulk_bytes = 64 * 1024;
inline constexpr std::size_t eager_bytes = 16 * 1024;  // the longest eager message

using node::Heap;
using node::nowhere;
using node::Offset;
using platform::Native;

// The place of a message's payload.
enum class Place : std::uint8_t { slot, ring, cell };

struct alignas(64) Slot {
  Native::atomic<std::uint32_t> sequence;  // position + 1 once filled
  MessageKind kind;
  Place place;
  std::uint16_t bytes;  // of `payload`
  std::uint64_t context;
  std::int32_t source;
  std::int32_t tag;
  std::byte payload[inline_bytes];  // the message, or a BulkSpan
};
static_assert(sizeof(Slot) == 128 && offsetof(Slot, payload) + first_line_bytes == platform::cache_line);

using BulkSpan = sync::ByteSpan;  // of a cell: `begin` is its offset, `end` is unused

// Messages of so many bytes and more are notified early, when their first part is there: the core of a waiting receiver
// fetches it while the rest is written. Between distant cores, fetching a line takes as long as writing one.
inline constexpr std::size_t early_notification_bytes = 2 * 1024;
constexpr std::size_t first_part(std::size_t bytes) { return bytes / 2 / platform::cache_line * platform::cache_line; }

struct Channel {
  // In memory of bytes(slots).
  Channel(int from, SlotCount number, Offset for_answers = nowhere)
      : sender(from), slot_count(static_cast<std::uint32_t>(number)), spare(for_answers) {
    for (std::uint32_t i = 0; i < slot_count; ++i) new (slots() + i) Slot;
  }

  // Written by the consumer.
  alignas(64) Native::atomic<std::uint32_t> slots_consumed;
  Native::atomic<std::uint64_t> bulk_consumed;
  // Written by the producer: it wants to be woken when there is room.
  alignas(64) Native::atomic<std::uint32_t> producer_waits;
  // Final before the channel is announced.
  std::int32_t sender;  // world rank
  Offset next_inbound;  // list of the receiver's inbound channels
  std::uint32_t slot_count;
  Offset spare;  // for a channel of as many slots from the receiver to the sender, if that has made none; or nowhere
  // Written by threads of the sender that change the lane; read when messages of several lanes are put into one order.
  alignas(64) Native::atomic<std::uint32_t> claims_noted;
  alignas(128) std::byte bulk[bulk_bytes];
  std::byte cells[Cells::of_a_channel][eager_bytes];
  // The slots follow.

  static std::size_t bytes(SlotCount slots) { return sizeof(Channel) + static_cast<std::size_t>(slots) * sizeof(Slot); }
  Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
};
static_assert(sizeof(Channel) % sizeof(Slot) == 0);

// The sender's end; private memory of the sending rank.
class Producer : public sync::SlotProducer<Native, Channel, Slot> {
 public:
  // Prefetches the place of the message after next, for as many bytes. Not that of the next one: the consumer polls it
  // when idle.
  void fetch_ahead(const Claim& claim, std::size_t bytes) const {
    const Slot& next = slot(claim.position + 2);
    Native::prefetch_for_write(&next);
    if (bytes > first_line_bytes) Native::prefetch_for_write(&next.payload[first_line_bytes]);
  }
  // Prefetches the place of the next message, if there has been one: it will come soon.
  void fetch_next() const {
    if (!attached()) [[unlikely]]
      return;
    Native::prefetch_for_write(&slot(position()));
  }

  // For a message of at most eager_bytes, in one piece.
  struct Room {
    std::byte* at;  // null: no room now
    BulkSpan span;
    Place place;
  };
  // One thread at a time. commit() takes it.
  Room reserve(std::uint32_t bytes, const Heap& heap) {
    // A short message is here only for its stamp (flux.hpp).
    if (const Offset cell = bytes <= inline_bytes ? nowhere : cells_.next(); cell != nowhere)
      return {heap.at<std::byte>(cell), {cell, 0, bytes}, Place::cell};
    Room room{nullptr, {}, Place::ring};
    if (ring_.reserve(bytes, channel().bulk_consumed, room.span))
      room.at = channel().bulk + room.span.begin % bulk_bytes;
    return room;
  }
  void commit(const Room& room) {
    if (room.place == Place::cell)
      cells_.drop();
    else
      ring_.commit(room.span);
  }
  Cells& cells() { return cells_; }
  // Prefetches memory that will be written.
  static void fetch(const std::byte* first, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += platform::cache_line) Native::prefetch_for_write(first + at);
  }

 private:
  sync::ByteRingProducer<Native, bulk_bytes> ring_;
  Cells cells_;
  std::byte padding_[48];  // makes a peer's entry reachable by a shift
};
static_assert(sizeof(Producer) == 128);

// The receiver's end.
class Consumer : public sync::SlotConsumer<Native, Channel, Slot> {
 public:
  struct Payload {
    const std::byte* at;
    std::size_t bytes;
  };

  // `cells`: those of this rank and the sender.
  Consumer(Channel* channel, const Heap& heap, Cells& cells) : SlotConsumer(channel), heap_(heap), cells_(cells) {}

  // The payload of a message, in place.
  Payload payload_of(const Slot& slot) const {
    if (slot.place == Place::slot) [[likely]]
      return {slot.payload, slot.bytes};
    const BulkSpan span = span_of(slot);
    return {start_of(slot, span), span.bytes};
  }
  // In a stream of messages, prefetches a later one: its line is in the producer's cache, and waiting for it costs more
  // than all the rest (16 to 20 million messages a second with one thread; a 2-core Intel Xeon VM; 6 to 12 slots ahead
  // are as good).
  void fetch_ahead() const { Native::prefetch(&slot(taken() + 8)); }
  // The next message, or null; in the latter case it prefetches the part of a message that its sender is writing.
  const Slot* front_or_fetch() {
    return front([this](const Slot& slot) { fetch_first_part(slot); });
  }
  void pop(const Slot& slot) {
    if (slot.place != Place::slot) {
      const BulkSpan span = span_of(slot);
      if (slot.place == Place::cell)
        cells_.add(span.begin);
      else
        bulk_position_ = span.end;
    }
    SlotConsumer::pop();
  }
  // Publishes our position to the producer; once per poll.
  void publish() {
    channel().bulk_consumed.store(bulk_position_, platform::order::release);
    SlotConsumer::publish();
  }

 private:
  static BulkSpan span_of(const Slot& slot) {
    BulkSpan span;
    std::memcpy(&span, slot.payload, sizeof span);
    return span;
  }
  const std::byte* start_of(const Slot& slot, const BulkSpan& span) const {
    return slot.place == Place::cell ? heap_.at<std::byte>(span.begin) : channel().bulk + span.begin % bulk_bytes;
  }
  [[gnu::noinline]] void fetch_first_part(const Slot& slot) const {
    const BulkSpan span = span_of(slot);
    const std::byte* const first = start_of(slot, span);
    for (std::size_t at = 0; at < first_part(span.bytes); at += platform::cache_line) Native::prefetch(first + at);
  }

  const Heap& heap_;
  Cells& cells_;
  std::uint64_t bulk_position_ = 0;
};

}  // namespace heddle::lln::shm
