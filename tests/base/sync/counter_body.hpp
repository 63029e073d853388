// The tests of a synchronization counter. Thread 0 waits; the others signal, each once a round, at any time after the
// counter was published: before the wait, between its look and its sleep, or later. A lost wake-up is a deadlock.
//
// CounterBody: complete means that all signals have come, with what was written before them. ForceBody: the last
// thread forces once, the others signal; the waiter comes back from the force, goes on waiting, and is complete in
// the end. Forced or not is told truthfully.
#pragma once

#include <array>

#include "base/platform/platform.hpp"
#include "kit.hpp"

namespace heddle::test {

template <platform::Platform P, class C, unsigned MaxThreads>
class CounterBody {
  using order = platform::order;

 public:
  CounterBody(unsigned threads, unsigned rounds) : signallers_(threads - 1), rounds_(rounds) {}

  void thread(unsigned id) {
    for (unsigned round = 1; round <= rounds_; ++round) {
      if (id == 0) {
        counter_.expect(signallers_);
        round_.store(round, order::release);
        if (!counter_.complete()) {
          const auto wake = counter_.wait();
          require<P>(wake.complete && !wake.forced, "woken without a reason");
        }
        for (unsigned i = 1; i <= signallers_; ++i) {
          require<P>(work_[i].get() == round, "complete before a signal, or without what it published");
        }
      } else {
        P::await(round_, order::acquire, [round](std::uint32_t r) { return r >= round; });
        work_[id].set(round);
        counter_.signal();
      }
    }
  }

  void finish() { require<P>(counter_.complete(), "events are left"); }

 private:
  const unsigned signallers_;
  const unsigned rounds_;
  C counter_;
  typename P::template atomic<std::uint32_t> round_{0};
  std::array<typename P::template plain<unsigned>, MaxThreads + 1> work_;
};

template <platform::Platform P, class C, unsigned MaxThreads>
class ForceBody {
  using order = platform::order;

 public:
  ForceBody(unsigned threads, unsigned) : threads_(threads), events_(threads > 2 ? threads - 2 : 1) {
    counter_.expect(events_);
  }

  void thread(unsigned id) {
    if (id == 0) {
      bool forced = false;
      for (;;) {
        const auto wake = counter_.wait();
        require<P>(wake.complete || wake.forced, "woken without a reason");
        require<P>(!(wake.forced && forced), "forced twice");
        forced = forced || wake.forced;
        if (forced && before_force_.get() != 1) require<P>(false, "forced without what was published");
        if (wake.complete) break;
      }
      forced_ = forced;
    } else if (id == threads_ - 1) {
      before_force_.set(1);
      counter_.force();
      if (threads_ == 2) counter_.signal();  // the case of a force and the last signal close together
    } else {
      counter_.signal();
    }
  }

  void finish() {
    require<P>(counter_.complete(), "events are left");
    require<P>(threads_ != 2 || forced_, "a force before the last signal was not told");
  }

 private:
  const unsigned threads_;
  const unsigned events_;
  bool forced_ = false;
  C counter_;
  typename P::template plain<unsigned> before_force_{0};
};

}  // namespace heddle::test
