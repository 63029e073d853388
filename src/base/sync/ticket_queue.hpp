// A wait-free, linearizable, bounded queue of many producers and one consumer at a time: no producer, wherever it is
// stopped, delays another one or hides another's item.
//
// Source: ours, for the progress that LockQ asks of its queue (Amer 2019, section 3.6). Compared with the queue that is
// named there (Yang and Mellor-Crummey, PPoPP 2016) it uses that LockQ has one consumer: enqueue is two fetch-and-adds
// and a store, with no helping, no hazard pointers and no memory to reclaim, and it works between processes. From Jiffy
// (Adas and Friedman, DISC 2020) comes the idea that the consumer steps over a slot whose producer is late.
//
// A producer first takes a credit, then draws a ticket, then fills the ticket's slot. The consumer takes the filled
// slot with the lowest ticket, and gives credits back in the order of tickets.
//
// Invariants: credits_ is the number of tickets that may still be drawn (short-term less, while producers that found
// none put theirs back); so no ticket reaches a slot before its previous ticket is done with. A slot is filled for
// ticket t when its state is t + 1. `taken` is the consumer's note that it has taken a slot out of order. Order:
// linearizable; an enqueue that returned before another began comes out first. Progress: enqueue is wait free: three or
// four atomic operations; it says full instead of waiting. (It may say so while another producer is putting a credit
// back; while full it favours the thread that asks at the right moment.) dequeue is wait free: it scans the slots again
// only after it has found one with a lower ticket, so at most Slots times. When: the queue of LockQ and of offload
// where asynchrony must not depend on the others' scheduling; the bound is the backpressure that a combiner needs
// anyway.
//
// Memory orders:
// - taking a credit, acquire, returning it, release: the consumer has emptied the slot before it is filled again;
// - the draw of a ticket, acq_rel: the taker of the credit for a slot need not draw its ticket; the one passes
//   on to the other that the slot is empty. (Relaxed, the checker finds two producers and the consumer in a race for
//   the item.)
// - a credit that is put back unused, relaxed: it passes on nothing;
// - store to state, release, loads of it, acquire: hand over the item. They also make the second scan of the consumer
//   see every slot that was filled before the one it has found.
// - load of tickets_, relaxed: a filled slot beyond it belongs to an enqueue that is concurrent with this dequeue, or
//   was ordered before it by something that orders this load, too.
#pragma once

#include <bit>

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P, class T, std::uint32_t Slots>
class TicketQueue {
  static_assert(std::has_single_bit(Slots), "tickets wrap around");
  using order = platform::order;

 public:
  // False if full.
  bool enqueue(T item) {
    if (static_cast<std::int32_t>(credits_.fetch_sub(1, order::acquire)) <= 0) {
      credits_.fetch_add(1, order::relaxed);
      return false;
    }
    const std::uint32_t ticket = tickets_.fetch_add(1, order::acq_rel);
    Slot& slot = slots_[ticket % Slots];
    slot.item.set(item);
    slot.state.store(ticket + 1, order::release);
    return true;
  }

  // False if empty. Only one thread at a time may be here.
  bool dequeue(T& item) {
    const std::uint32_t head = head_.get();
    const std::uint32_t end = tickets_.load(order::relaxed);
    std::uint32_t found = first_filled(head, end);
    if (found == end) return false;
    // Slots before the one that was found, if filled earlier, are visible now, though the scan may have missed them.
    for (std::uint32_t before = first_filled(head, found); before != found;) {
      found = before;
      before = first_filled(head, found);
    }
    item = slots_[found % Slots].item.get();
    slots_[found % Slots].taken.set(true);
    advance(head, end);
    return true;
  }

 private:
  struct Slot {
    typename P::template atomic<std::uint32_t> state{0};
    typename P::template plain<T> item;
    typename P::template plain<bool> taken{false};  // the consumer's note
  };

  std::uint32_t first_filled(std::uint32_t begin, std::uint32_t end) const {
    for (std::uint32_t ticket = begin; ticket != end; ++ticket) {
      const Slot& slot = slots_[ticket % Slots];
      if (!slot.taken.get() && slot.state.load(order::acquire) == ticket + 1) return ticket;
    }
    return end;
  }

  // Moves the head over all slots that are taken, and returns their credits.
  void advance(std::uint32_t head, std::uint32_t end) {
    std::uint32_t next = head;
    for (; next != end && slots_[next % Slots].taken.get(); ++next) slots_[next % Slots].taken.set(false);
    if (next == head) return;
    head_.set(next);
    credits_.fetch_add(next - head, order::release);
  }

  alignas(platform::cache_line) typename P::template atomic<std::uint32_t> credits_{Slots};
  typename P::template atomic<std::uint32_t> tickets_{0};
  alignas(platform::cache_line) typename P::template plain<std::uint32_t> head_{0};
  Slot slots_[Slots];
};

}  // namespace heddle::sync
