// Slots of rounds: places in shared memory that one side fills once in a round, each by any of its threads, and that the other side reads,
// each by whichever of its threads finds it filled. Two sets of slots take turns, so that one side may fill while the other reads.
//
// Source: ours; numbers in place of flags, which no thread resets, are those of slot_sets.hpp.
//
//     if (rounds.is_free(round)) { ... write slot i ...; slot.fill(round); }      else try again later
//     if (slot.is_filled(round) && reading.begin(round)) { ... read slot i ...; reading.end(round); }
//     when all slots of the round are read: rounds.finish(round), and wake the filling side
//
// Invariants: `filled` of a slot is the last round whose content it has; `finished` is the last round whose slots are all read. No slot is
// filled for round r before `finished` is r - 2, so no content is lost. One thread alone reads a slot in a round. No thread
// reads a slot of a round before the previous one has ended.
//
// Memory orders: fill releases the content, is_filled acquires it. end() releases what the reader has stored, is_read() acquires it, so the
// thread that finishes the round has seen all reads; finish() releases the slots, and is_free() acquires them. Progress: wait free.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"
#include "base/sync/slot_sets.hpp"

namespace heddle::sync {

// In shared memory, all zero at first; rounds count from 1.
template <platform::Platform P>
class SlotRounds {
  using order = platform::order;

 public:
  static constexpr Round sets = 2;

  bool is_free(Round round) const { return reached(finished_.load(order::acquire), round - sets); }
  void finish(Round round) { finished_.store(round, order::release); }

 private:
  typename P::template atomic<Round> finished_{0};
};

// The same; before the content of a slot.
template <platform::Platform P>
class RoundSlot {
  using order = platform::order;

 public:
  void fill(Round round) { filled_.store(round, order::release); }
  bool is_filled(Round round) const { return filled_.load(order::acquire) == round; }

 private:
  typename P::template atomic<Round> filled_{0};
};

// In the memory of the reading side, for each slot: which of its threads reads the slot.
template <platform::Platform P>
class SlotReading {
  using order = platform::order;

 public:
  // False: another thread reads it, or has read it.
  bool begin(Round round) {
    Round before = 2 * (round - 1);
    return state_.compare_exchange(before, 2 * round - 1, order::relaxed, order::relaxed);
  }
  void end(Round round) { state_.store(2 * round, order::release); }
  bool is_read(Round round) const { return state_.load(order::acquire) == 2 * round; }

 private:
  typename P::template atomic<Round> state_{0};  // 2 * r when round r is read, one less while it is being read
};

}  // namespace heddle::sync
