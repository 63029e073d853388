// Kernel-level synchronization counter (KSC): the waiter sleeps on the word (a futex).
//
// Source, use, invariants, memory orders: see sync_counter.hpp. Lost wake-ups: the waiter announces its sleep in the
// word that signallers change, and sleeps only if the word is still as it left it. A signaller so either changes the
// word first, or sees the announcement. Progress: signal and force are one atomic operation, and a wake-up only for the
// last event and only for a sleeper. The wake-up names an address that may be gone already; the kernel doesn't read it,
// and a thread that sleeps there by then must expect spurious wake-ups, as every parked thread does. When: more threads
// than cores, long waits. A wake-up costs microseconds (see docs/results).
#pragma once

#include "base/sync/sync_counter.hpp"

namespace heddle::sync {

enum class Arrival : std::uint8_t { more_to_come, last_spinning, last_blocked };

template <platform::Platform P, platform::Scope Where = platform::Scope::process>
class KernelCounter : public CounterWord<P> {
  using order = platform::order;
  using Base = CounterWord<P>;

 public:
  void signal() {
    if (arrive() == Arrival::last_blocked) wake();
  }

  // signal() without its system call, for threads that signal under a lock and wake after they have released it. A
  // sleeping waiter then needs wake(), for which its address is enough: if it has woken and gone meanwhile, nothing
  // happens.
  Arrival arrive() {
    const std::uint32_t left = this->word_.fetch_sub(1, order::release) - 1;
    if ((left & Base::most_events) != 0) return Arrival::more_to_come;
    return left == Base::blocked ? Arrival::last_blocked : Arrival::last_spinning;  // a forced waiter has been woken
  }
  void wake() { P::unpark(this->word_, 1, Where); }

  void force() {
    if (mark_forced()) wake();
  }
  // force() without its system call. True: the waiter sleeps and the caller has to wake it. (A complete one is woken by
  // the last signaller.) So exactly one of the threads that signal and force a sleeper wakes it.
  bool mark_forced() {
    const std::uint32_t before = this->word_.fetch_or(Base::forced, order::release);
    return (before & Base::blocked) != 0 && (before & Base::most_events) != 0;
  }

  Wake wait() {
    return wait_by([this](std::uint32_t word) { P::park(this->word_, word, Where); });
  }

  // Sleeps in another way: sleep(word) returns when the waiter has been woken, or before.
  template <class Sleep>
  Wake wait_by(Sleep&& sleep) {
    for (;;) {
      std::uint32_t word = this->word_.load(order::acquire);
      if (Base::over(word)) return this->report(word);
      if ((word & Base::blocked) == 0) {
        if (!this->word_.compare_exchange(word, word | Base::blocked, order::relaxed, order::relaxed)) continue;
        word |= Base::blocked;
      }
      sleep(word);
    }
  }
};

}  // namespace heddle::sync
