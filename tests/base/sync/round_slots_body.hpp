// The test of slots of rounds. Thread 0 fills the slots of each round, thread 1 begins to read a round, sleeps until all slots are read, and
// ends the round, and the others read those of the round begun that they find filled. Each slot is read once a round, with the content of that round. `Waits::never`: thread 0 does not wait
// for its slots to be free, and the checker must find that a round is lost.
#pragma once

#include <array>

#include "base/sync/doorbell.hpp"
#include "base/sync/round_slots.hpp"
#include "kit.hpp"

namespace heddle::test {

enum class Waits { until_free, never };

template <platform::Platform P, Waits waits = Waits::until_free>
class RoundSlotsBody {
  using order = platform::order;
  using Rounds = sync::SlotRounds<P>;
  using Bell = sync::Doorbell<P, platform::Scope::process>;
  static constexpr unsigned slots = 2;

 public:
  RoundSlotsBody(unsigned, unsigned rounds) : rounds_(rounds) {}

  void thread(unsigned id) {
    for (sync::Round round = 1; round <= rounds_; ++round) {
      switch (id) {
        case 0:
          fill_all(round);
          break;
        case 1:
          end(round);
          break;
        default:
          if (const sync::Round begun = begun_.load(order::acquire))
            for (unsigned i = 0; i != slots; ++i) (void)read(i, begun);
      }
    }
  }

  void finish() {
    require<P>(reads_.load(order::relaxed) == slots * rounds_, "each slot is read once a round");
    require<P>(shared_.is_free(rounds_ + Rounds::sets), "all rounds have ended");
  }

 private:
  struct Slot {
    sync::RoundSlot<P> state;
    typename P::template plain<unsigned> content;
  };
  enum class Read { yes, by_another, not_there };

  static unsigned content(unsigned slot, sync::Round round) { return 10 * round + slot; }
  Slot& slot(unsigned i, sync::Round round) { return slots_[round % Rounds::sets][i]; }

  void fill_all(sync::Round round) {
    const auto is_free = [&] { return waits == Waits::never || shared_.is_free(round); };
    while (!is_free()) writer_.wait_once([] {}, is_free, [&](std::uint32_t rings) { writer_.sleep(rings); });
    for (unsigned i = 0; i != slots; ++i) {
      slot(i, round).content.set(content(i, round));
      slot(i, round).state.fill(round);
    }
    reader_.wake_blocked();
  }

  void end(sync::Round round) {
    const auto poll = [&] {
      bool all = true;
      for (unsigned i = 0; i != slots; ++i) {
        const Read what = read(i, round);
        if (what == Read::by_another) {  // may not sleep: that thread wakes none
          P::yield();
          return true;
        }
        all &= what == Read::yes;
      }
      return all;
    };
    begun_.store(round, order::release);
    while (!is_over(round)) reader_.wait_once([] {}, poll, [&](std::uint32_t rings) { reader_.sleep(rings); });
    shared_.finish(round);
    writer_.wake_blocked();
  }

  bool is_over(sync::Round round) {
    for (auto& reading : readings_)
      if (!reading.is_read(round)) return false;
    return true;
  }

  Read read(unsigned i, sync::Round round) {
    if (readings_[i].is_read(round)) return Read::yes;
    if (!slot(i, round).state.is_filled(round)) return Read::not_there;
    if (!readings_[i].begin(round)) return readings_[i].is_read(round) ? Read::yes : Read::by_another;
    require<P>(slot(i, round).content.get() == content(i, round), "the content of another round");
    reads_.fetch_add(1, order::relaxed);
    readings_[i].end(round);
    return Read::yes;
  }

  const unsigned rounds_;
  Rounds shared_{};
  std::array<std::array<Slot, slots>, Rounds::sets> slots_{};
  std::array<sync::SlotReading<P>, slots> readings_{};
  typename P::template atomic<sync::Round> begun_{0};
  typename P::template atomic<std::uint32_t> reads_{0};
  Bell writer_{};
  Bell reader_{};
};

}  // namespace heddle::test
