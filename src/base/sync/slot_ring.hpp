// Slot ring: messages from the threads of one rank to one consumer, in slots that each have a mark when filled.
//
// Source: ours, after the bounded queue of D. Vyukov (a sequence number a slot) with one consumer, whose position the
// producers read only when their own copy of it says "full": in a steady flow each message moves its own lines and no
// other.
//
// Both sides share a Channel, in memory that may be mapped at different addresses:
//   Slot* slots(), slot_count     a power of two; a Slot has `sequence`, an atomic<uint32_t> that is 0 at first
//   slots_consumed                atomic<uint32_t>: the consumer's position
//   producer_waits                atomic<uint32_t>: a producer that found no room wants to be woken
//
// A producer claims the next slot, fills it and then stores its sequence number, position + 1, with release; the
// consumer knows the position that it waits for, so a stale number is never taken for a new one (the ring would have to
// wrap 2^25 times between two polls).
//
// Invariants: slots are claimed in the order of their positions, and never more than slot_count are claimed and not
// consumed. Order: that of the claims. Progress: the consumer is wait free; a claim that may be concurrent is lock free
// (a swap fails only because another one succeeded). A thread that loses its core between claim and publication delays
// those behind it. No wake-up is lost: ask_for_room() comes before a heavy fence and a last attempt
// (Doorbell::wait_once), publish() before a light fence and a read of `producer_waits` (owes_wakeup), so that either
// the producer finds room or the consumer sees the request.
//
// Memory orders: the sequence number is released and acquired, it hands the slot over; slots_consumed likewise, it
// hands it back, and so does the producers' copy of it, which another producer may have read. Claims carry no data:
// positions are relaxed.
#pragma once

#include "base/platform/platform.hpp"

namespace heddle::sync {

// Added to the sequence number of a slot that is only notified early.
struct SlotRing {
  static constexpr std::uint32_t notified_early = std::uint32_t{1} << 31;
};

// Access of the producers: one at a time, which a lock ensures, or concurrent.
enum class Claiming : bool { exclusive, concurrent };

// The producers' end; private memory of their rank.
template <platform::Platform P, class Channel, class Slot>
class SlotProducer {
  using order = platform::order;

 public:
  // A slot that is the caller's to fill and to publish, or none.
  struct Claim {
    Slot* slot;
    std::uint32_t position;
  };

  void attach(Channel* channel) {
    slot_count_ = channel->slot_count;
    channel_.store(channel, order::release);
  }
  bool attached() const { return channel_.load(order::acquire) != nullptr; }
  Channel& channel() const { return *channel_.load(order::relaxed); }

  // The next slot; none if the ring is full.
  Claim claim(Claiming claiming) {
    std::uint32_t position = position_.load(order::relaxed);
    do {
      if (!has_room(position)) [[unlikely]]
        return {nullptr, position};
      if (claiming == Claiming::exclusive) {
        position_.store(position + 1, order::relaxed);
        break;
      }
    } while (!position_.compare_exchange(position, position + 1, order::relaxed, order::relaxed));
    return {&slot(position), position};
  }
  // Hands a claimed slot over; every other field is written.
  static void publish(const Claim& claim) { claim.slot->sequence.store(claim.position + 1, order::release); }

  // Before that: a part of the message is written, and the slot holds its place. A hint to an idle consumer.
  static void notify_early(const Claim& claim) {
    claim.slot->sequence.store(claim.position + 1 + SlotRing::notified_early, order::release);
  }

  // Notes, for the consumer, that slots have been claimed up to here. A slot that another thread has claimed, and not yet published, hides
  // later ones. Later messages of the calling thread on other rings come after all that it has claimed on this one.
  void note_claims() {
    if (!attached()) return;
    auto& noted = channel().claims_noted;
    const std::uint32_t now = position();
    std::uint32_t before = noted.load(order::relaxed);
    while (static_cast<std::int32_t>(now - before) > 0 &&
           !noted.compare_exchange(before, now, order::relaxed, order::relaxed)) {
    }
  }

  // Before a heavy fence and a last attempt to send: requests that the consumer wakes this rank when there is room.
  void ask_for_room() { channel().producer_waits.store(1, order::relaxed); }

 protected:
  Slot& slot(std::uint32_t position) const { return channel().slots()[position & (slot_count_ - 1)]; }
  std::uint32_t position() const { return position_.load(order::relaxed); }

 private:
  // A position that other claims have overtaken seems to have room, and then the swap fails.
  bool has_room(std::uint32_t position) {
    if (static_cast<std::int32_t>(position - consumed_.load(order::acquire)) < static_cast<std::int32_t>(slot_count_))
        [[likely]]
      return true;
    const std::uint32_t consumed = channel().slots_consumed.load(order::acquire);
    consumed_.store(consumed, order::release);
    return static_cast<std::int32_t>(position - consumed) < static_cast<std::int32_t>(slot_count_);
  }

  typename P::template atomic<Channel*> channel_{nullptr};
  std::uint32_t slot_count_ = 0;  // the channel's; that one's line is often written to
  typename P::template atomic<std::uint32_t> position_{0};
  typename P::template atomic<std::uint32_t> consumed_{0};  // as last read
};

// The consumer's end, for one thread at a time.
template <platform::Platform P, class Channel, class Slot>
class SlotConsumer {
  using order = platform::order;

 public:
  explicit SlotConsumer(Channel* channel) : channel_(channel), slot_count_(channel->slot_count) {}
  Channel& channel() const { return *channel_; }

  // True if a message waits, or an early notification that the consumer has not read; any thread, a hint.
  bool ready() const {
    const std::uint32_t position = position_.load(order::relaxed);
    const std::uint32_t sequence = slot(position).sequence.load(order::relaxed);
    return sequence == position + 1 ||
           (sequence == position + 1 + SlotRing::notified_early && seen_coming_.load(order::relaxed) != sequence);
  }
  // The number of messages taken; any thread.
  std::uint32_t taken() const { return position_.load(order::relaxed); }
  // The consumer looks for all slots that have been noted as claimed by now; true once it has taken them.
  void look_for_noted() { noted_ = channel_->claims_noted.load(order::relaxed); }
  bool has_taken_noted() const { return static_cast<std::int32_t>(taken() - noted_) >= 0; }
  // The next message, or null.
  const Slot* front() const {
    const std::uint32_t position = position_.load(order::relaxed);
    const Slot& next = slot(position);
    return next.sequence.load(order::acquire) == position + 1 ? &next : nullptr;
  }
  // The same; for a message that has only been notified early, calls notified_early(slot) once.
  template <class F>
  const Slot* front(F&& notified_early) {
    const std::uint32_t position = position_.load(order::relaxed);
    const Slot& next = slot(position);
    const std::uint32_t sequence = next.sequence.load(order::acquire);
    if (sequence == position + 1) return &next;
    if (sequence == position + 1 + SlotRing::notified_early && seen_coming_.load(order::relaxed) != sequence)
        [[unlikely]] {
      seen_coming_.store(sequence, order::relaxed);
      notified_early(next);
    }
    return nullptr;
  }
  void pop() { position_.store(position_.load(order::relaxed) + 1, order::relaxed); }
  // Publishes our position to the producers; once per poll.
  void publish() { channel_->slots_consumed.store(position_.load(order::relaxed), order::release); }
  // After publish(): true if a producer has asked to be woken. True once for each request, and then the caller wakes
  // it.
  bool owes_wakeup() {
    P::light_fence();
    if (channel_->producer_waits.load(order::relaxed) == 0) [[likely]]
      return false;
    channel_->producer_waits.store(0, order::relaxed);
    return true;
  }

 protected:
  const Slot& slot(std::uint32_t position) const { return channel_->slots()[position & (slot_count_ - 1)]; }

 private:
  Channel* channel_;
  std::uint32_t slot_count_;
  typename P::template atomic<std::uint32_t> position_{0};  // written by the consumer, read by others as a hint
  std::uint32_t noted_ = 0;
  typename P::template atomic<std::uint32_t> seen_coming_{0};  // the sequence number of the last early notification
};

}  // namespace heddle::sync
