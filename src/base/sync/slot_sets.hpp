// Slot sets: memory that the members of a group share for operations that all take part in, used in turn by their
// rounds. In a set every member has a slot of its own; the caller places the slots.
//
// Source: the flags and slots are those of Graham and Shipman, "MPI support for multi-core architectures: optimized
// shared memory collectives" (EuroPVM/MPI 2008); the last arrival doing the common work, and the reuse of a set without
// a second round of waiting, are ours.
//
//     round = member.enter(await);                  the set is free: every member has finished its last use
//     ... fill the slot ...
//     if (member.arrive(round, signature)) ... the last arrival: read all slots; member.open(round); wake the waiting members
//     else await that member.is_open(round); ... read the result of the last arrival ...
//     if (member.finish(round)) ... wake the others: a member waits for a set
//
// One member alone may also fill its slot and open (a broadcast). Members that fill() before they arrive let a reader
// that waits for all read their slots as they come. A member may have several rounds under way, at most `Sets`, before
// it finishes the last of them, which finishes all.
//
// Invariants: `open` is the round whose result is readable; `finished` of a member is the last round that it has
// completed; no member enters round r before all have finished round r - Sets. `arrived` is 0 between two uses. Safety:
// only members of the same round use a set at a time; the last arrival sees all writes before arrive(), and a member
// that has seen the set open sees the last arrival's writes before open(). No wake-up is lost: a member that waits for
// a set sets `waiting` before it polls again behind a heavy fence (Doorbell::wait_once); finish() reads `waiting`
// behind a light fence after its store.
//
// Memory orders: arrive is acq_rel, so that the last one acquires from all before it; open releases, is_open acquires;
// fill releases, is_filled acquires. `finished` is released, and acquired by enter: the set is handed back with it;
// against `waiting` it is ordered by the fences. `arrived` is cleared relaxed: finish() releases it for the next use.
// The mark of a member that strays is acquired together with its earlier writes, and ordered against `open` only at the
// member that sets it: so both miss each other less often, and the checker does not miss those two orders.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::sync {

using Round = std::uint32_t;  // wraps around
inline bool reached(Round now, Round wanted) { return static_cast<std::int32_t>(now - wanted) >= 0; }

// The part in shared memory, all zero at first. Every word that is written by one member and read by others has a line
// of its own.
template <platform::Platform P>
struct SlotSet {
  alignas(platform::cache_line)
      typename P::template atomic<std::uint64_t> arrived;  // how many; above 16 bits: their sum
  alignas(platform::cache_line) typename P::template atomic<Round> open;
  typename P::template atomic<Round> strayed;  // the round (of a broadcast) in which a member went another way
};

// One member's view. Shared has set(round), a SlotSet; finished(member), filled(member) and waiting(), an atomic<uint32_t> each.
template <platform::Platform P, std::uint32_t Sets, class Shared>
class SlotSetMember {
  using order = platform::order;

 public:
  // Round numbers wrap, so a mark is replaced before its number comes again: after so many rounds, in each set.
  static constexpr Round marks_last = Round{1} << 24;

  SlotSetMember(const Shared& shared, std::uint32_t members, std::uint32_t rank)
      : shared_(shared), members_(members), rank_(rank) {}

  // Begins the next round. await(condition) returns when the condition holds, and may sleep only on a doorbell.
  template <class Await>
  Round enter(Await&& await) {
    ++round_;
    const Round previous = round_ - Sets;  // the round of the set's last use
    if (!reached(known_finished_, previous)) [[unlikely]]
      await_finished(previous, await, [] { return false; });
    if (round_ % marks_last < Sets) [[unlikely]]
      renew_marks(previous);
    return round_;
  }
  Round last_entered() const { return round_; }

  // Counts this member in, its slot being filled; true for the last one, which then knows if all came with the same
  // number.
  bool arrive(Round round, std::uint64_t signature) {
    auto& arrived = shared_.set(round).arrived;
    const std::uint64_t mine = signature << 16 | 1;
    const std::uint64_t sum = arrived.fetch_add(mine, order::acq_rel) + mine;
    if ((sum & 0xffff) != members_) return false;
    arrived.store(0, order::relaxed);  // not read before the set's next use
    agreed_ = sum == mine * members_;
    return true;
  }
  // After arrive() has told this member that it is the last.
  bool agreed() const { return agreed_; }

  // This member has filled its slot, for a reader that does not wait for all. Before arrive().
  void fill(Round round) { shared_.filled(rank_).store(round, order::release); }
  // For a round that the reader has not finished, so that no member is further ahead than the number of sets.
  bool is_filled(Round round, std::uint32_t member) const {
    return shared_.filled(member).load(order::acquire) - round < Sets;
  }

  void open(Round round) { shared_.set(round).open.store(round, order::release); }
  bool is_open(Round round) const { return shared_.set(round).open.load(order::acquire) == round; }

  // A member that goes another way leaves a mark; true if the round was open by then. One that opens at the same moment
  // may miss it.
  bool stray(Round round) {
    auto& set = shared_.set(round);
    if (!strayed(round)) set.strayed.store(round, order::seq_cst);
    return set.open.load(order::seq_cst) == round;
  }
  bool strayed(Round round) const { return shared_.set(round).strayed.load(order::acquire) == round; }

  // This member has completed all rounds up to this one. True: a member waits for a set, and has to be woken.
  [[nodiscard]] bool finish(Round round) {
    shared_.finished(rank_).store(round, order::release);
    P::light_fence();
    return shared_.waiting().load(order::relaxed) != 0;
  }
  // Until all members have finished a round, or for some other reason.
  template <class Await, class OrElse>
  void await_finished(Round round, Await&& await, OrElse&& or_else) {
    const auto over = [&] {
      known_finished_ = slowest();
      return reached(known_finished_, round) || or_else();
    };
    if (over()) return;
    shared_.waiting().fetch_add(1, order::relaxed);
    await(over);
    shared_.waiting().fetch_sub(1, order::relaxed);
  }
  // Every member has been seen in an operation that began with this round, so all have finished the earlier ones.
  void all_seen_in(Round round) { known_finished_ = round - 1; }

 private:
  // Entering a set whose round `previous` all have finished. A member may have gone another way in the new round
  // already. Relaxed: no data belong to a mark of a completed round.
  void renew_marks(Round previous) {
    const auto is_old = [previous](Round mark) { return reached(previous, mark + marks_last); };
    auto& filled = shared_.filled(rank_);
    if (is_old(filled.load(order::relaxed))) filled.store(previous, order::relaxed);
    auto& strayed = shared_.set(round_).strayed;
    Round mark = strayed.load(order::relaxed);
    if (is_old(mark)) (void)strayed.compare_exchange(mark, previous, order::relaxed, order::relaxed);
  }
  Round slowest() const {
    Round least = shared_.finished(0).load(order::acquire);
    for (std::uint32_t m = 1; m < members_; ++m) {
      const Round finished = shared_.finished(m).load(order::acquire);
      if (!reached(finished, least)) least = finished;
    }
    return least;
  }

  Shared shared_;
  std::uint32_t members_;
  std::uint32_t rank_;
  Round round_ = 0;           // the last one entered
  Round known_finished_ = 0;  // every member has finished at least this one
  bool agreed_ = true;
};

}  // namespace heddle::sync
