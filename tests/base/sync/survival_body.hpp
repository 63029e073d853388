// Tests of what outlives its users: threads that die in the middle, at a place that the body's parameter says.
//
// A thread that dies returns, and what it has done comes before the news of its death, as what a process has done comes before its parent
// has reaped it.
#pragma once

#include <array>

#include "base/sync/agreement.hpp"
#include "base/sync/robust_lock.hpp"
#include "kit.hpp"

namespace heddle::test {

// Thread 0 dies while it holds the lock, having written half of what belongs together, or lives.
enum class Owner { lives, dies };

template <platform::Platform P, Owner owner>
class RobustLockBody {
  using order = platform::order;

 public:
  RobustLockBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    for (unsigned round = 0; round < rounds_; ++round) {
      lock_.acquire(id, [this](std::uint32_t other) { return other == 0 && gone_.load(order::acquire); });
      require<P>(!inside_.exchange(true, order::relaxed), "two hold the lock");
      count_.set(count_.get() + 1);
      inside_.store(false, order::relaxed);
      if (owner == Owner::dies && id == 0) return gone_.store(true, order::release);
      lock_.release();
    }
  }
  void finish() {
    const unsigned dead = owner == Owner::dies ? rounds_ - 1 : 0;
    require<P>(count_.get() == threads_ * rounds_ - dead, "something that the lock guards was lost");
  }

 private:
  unsigned threads_, rounds_;
  sync::RobustLock<P> lock_{};
  typename P::template atomic<bool> gone_{false};
  typename P::template atomic<bool> inside_{false};
  typename P::template plain<unsigned> count_{0};
};

// The last thread dies in its last agreement, before or after it has contributed; the others must all see the same of it. `Counting::once`:
// they count what they saw before they learned that it is gone, and the checker must find that two of them see different sets.
enum class Death { before, after };
enum class Counting { again, once };

template <platform::Platform P, Death death, Counting counting = Counting::again>
class AgreementBody {
  using order = platform::order;
  static constexpr unsigned most = 3;
  using Slot = sync::AgreementSlot<P, sizeof(unsigned), 1>;
  struct Slots {
    std::array<Slot, most>* all;
    unsigned number;
    std::uint32_t size() const { return number; }
    Slot& operator[](std::uint32_t m) const { return (*all)[m]; }
  };

 public:
  AgreementBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {}

  void thread(unsigned id) {
    sync::Agreement<P, Slots> agreement(Slots{&slots_, threads_});
    const auto gone = [this](std::uint32_t m) { return m == threads_ - 1 && gone_.load(order::acquire); };
    for (unsigned n = 1; n <= rounds_; ++n) {
      const bool dies = id == threads_ - 1 && n == rounds_;
      if (dies && death == Death::before) break;
      while (!agreement.has_room(n, gone)) P::yield();
      const unsigned mine = value(id, n);
      agreement.contribute(id, n, &mine, sizeof mine);
      if (dies) break;
      unsigned seen = 0;
      while (!is_over(agreement, n, gone, seen)) P::yield();
      for (unsigned m = 0; m < threads_; ++m) {
        const bool counts = counting == Counting::again ? agreement.has_contributed(m, n) : (seen >> m & 1) != 0;
        if (!counts) continue;
        unsigned theirs = 0;
        agreement.read(m, n, &theirs, sizeof theirs);
        require<P>(theirs == value(m, n), "a value of another agreement");
        sets_[id] |= 1U << (n * most + m);
      }
      agreement.conclude(id, n);
    }
    if (id == threads_ - 1) gone_.store(true, order::release);
  }
  void finish() {
    for (unsigned id = 1; id + 1 < threads_; ++id) require<P>(sets_[id] == sets_[0], "two have seen different sets");
    const bool counts = (sets_[0] >> (rounds_ * most + threads_ - 1) & 1) != 0;
    require<P>(death != Death::after || counts, "what was contributed does not count");
    require<P>(death != Death::before || !counts, "what was not contributed counts");
  }

 private:
  static unsigned value(unsigned id, unsigned n) { return 10 * n + id; }
  template <class Agreement, class Gone>
  bool is_over(const Agreement& agreement, unsigned n, const Gone& gone, unsigned& seen) {
    if (counting == Counting::again) return agreement.is_over(n, gone);
    seen = 0;
    for (unsigned m = 0; m < threads_; ++m) {
      if (agreement.has_contributed(m, n))
        seen |= 1U << m;
      else if (!gone(m))
        return false;
    }
    return true;
  }

  unsigned threads_, rounds_;
  std::array<Slot, most> slots_{};
  typename P::template atomic<bool> gone_{false};
  std::array<unsigned, most> sets_{};
};

}  // namespace heddle::test
