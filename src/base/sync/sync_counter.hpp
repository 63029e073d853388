// Synchronization counters: wait for N events, be woken once, when the last has happened, or by force.
//
// Source: Dang 2017, Fig. 7. There the counter lives under the lock of the VNI; here it is one word, so that signalling
// needs no lock and the waiter none when it wakes. Three ways of waiting, one file each: user_counter.hpp (watch the
// word), kernel_counter.hpp (sleep in the kernel), competitive_counter.hpp (watch for a bounded time, then sleep). This
// file has the common part.
//
//     counter.expect(n);        before a signalling thread can see the counter
//     ... publish it ...
//     Wake how = counter.wait();   complete: all n signals have come. Forced: force() has; call wait() again to go on
//
// Late signals: a signal may come at any time after expect(), also before wait(), between its read and its sleep, or
// while it returns because of force(); none is lost, the word remembers. A counter may be reused or destroyed as soon
// as wait() says complete, unless a thread may still call force(): the forcing thread must know that the wait is not
// complete (Fig. 6 does both under the lock).
//
// Invariants: the low bits of word_ are the number of signals still to come. `forced` is set by force() and cleared by
// the wait() that reports it; once complete, wait() reports and keeps it. `blocked` means that the waiter may be parked
// on the word. Safety: wait() reports complete only after n signals, and sees all writes before each of them.
//
// Memory orders: signal and force release, the waiter's read acquires; signals are read-modify-writes, so the waiter
// acquires from all of them through the last. expect is relaxed: the publication of the counter releases it. A change
// of the flags alone orders nothing.
#pragma once

#include "base/platform/platform.hpp"

namespace heddle::sync {

struct Wake {
  bool complete;
  bool forced;
};

template <platform::Platform P>
class CounterWord {
  using order = platform::order;

 public:
  static constexpr std::uint32_t most_events = (std::uint32_t{1} << 30) - 1;

  void expect(std::uint32_t events) { word_.store(events, order::relaxed); }

  // True if all events have come; for threads that poll before they wait.
  bool complete() const { return (word_.load(order::acquire) & most_events) == 0; }

  // Waits spinning.
  Wake watch() { return report(P::await(word_, order::acquire, over)); }

 protected:
  static constexpr std::uint32_t forced = std::uint32_t{1} << 30;
  static constexpr std::uint32_t blocked = std::uint32_t{1} << 31;

  static bool over(std::uint32_t word) { return (word & most_events) == 0 || (word & forced) != 0; }

  // For a word that is over. The flags of a complete counter stay until the next expect().
  Wake report(std::uint32_t word) {
    const Wake wake{(word & most_events) == 0, (word & forced) != 0};
    if (!wake.complete) word_.fetch_and(most_events, order::relaxed);
    return wake;
  }

  typename P::template atomic<std::uint32_t> word_{0};
};

}  // namespace heddle::sync
