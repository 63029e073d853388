// The test of reminders: threads leave work and go, and the last one, which sleeps until the timer goes off, does it. A thread
// that leaves work may do all but its last itself, as a thread that polls does, and the timer then goes off for nothing or for
// what was left later. Work without a notified thread is a deadlock.
#pragma once

#include "base/sync/deferred_timer.hpp"
#include "kit.hpp"

namespace heddle::test {

enum class Timer : bool { taken_back, looked_first };

template <platform::Platform P, Timer order_of = Timer::taken_back>
class DeferredTimerBody {
  using order = platform::order;

 public:
  // Rounds: what each leaves.
  DeferredTimerBody(unsigned threads, unsigned rounds) : leaving_(threads - 1), rounds_(rounds) {}

  void thread(unsigned id) {
    if (id < leaving_) {
      // As under the lock of a list: who finds something there leaves it to who has left that.
      for (unsigned i = 0; i != rounds_; ++i) {
        const bool last = i + 1 == rounds_;
        if (left_.fetch_add(last ? final : 1, order::relaxed) == 0 && deferred_timer_.ask()) set_timer();
        if (leaving_ == 1 && !last) take();
      }
      return;
    }
    for (unsigned done = 0; done != leaving_;) {
      while (timer_.load(order::relaxed) == 0) P::park(timer_, 0, platform::Scope::process);
      timer_.store(0, order::relaxed);
      if constexpr (order_of == Timer::taken_back) {
        deferred_timer_.begin();
        done += take() / final;
      } else {
        done += take() / final;
        deferred_timer_.begin();
      }
    }
  }

  void finish() { require<P>(left_.load(order::relaxed) == 0, "something is left"); }

 private:
  static constexpr unsigned final = 1U << 16;  // what each leaves last; more than all that is left before

  // The kernel's, whose calls order nothing that we rely on.
  void set_timer() {
    timer_.store(1, order::relaxed);
    P::unpark(timer_, 1, platform::Scope::process);
  }
  unsigned take() { return left_.load(order::relaxed) == 0 ? 0 : left_.exchange(0, order::relaxed); }

  const unsigned leaving_;
  const unsigned rounds_;
  sync::DeferredTimer<P> deferred_timer_;
  typename P::template atomic<unsigned> left_{0};
  typename P::template atomic<std::uint32_t> timer_{0};
};

}  // namespace heddle::test
