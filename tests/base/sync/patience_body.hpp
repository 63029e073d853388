// The test of how waiting threads spend their time (base/safety/patience.hpp). However many wait, each comes to the end of its time within
// a bounded number of looks, whether it gives way or not; while it waits it is counted, and afterwards it is not; and when the rank has
// called another's progress thread, one of the waiting threads yields its core to that at once.
#pragma once

#include "base/safety/patience.hpp"
#include "kit.hpp"

namespace heddle::test {

// Time passes when it is asked for.
template <platform::Platform P>
struct Ticking : P {
  static std::int64_t now() { return ++P::template local<std::int64_t, Ticking>(); }
};

template <platform::Platform P>
class PatienceBody {
  using order = platform::order;
  using Clock = Ticking<P>;
  using Patience = safety::Patience<Clock>;

 public:
  PatienceBody(unsigned threads, unsigned rounds) : threads_(threads), rounds_(rounds) {
    machine_.waiting = &waiting_;
    machine_.called_other = &called_other_;
    machine_.cores = 2;
    machine_.spinning = 2;
  }

  void thread(unsigned id) {
    for (unsigned round = 0; round != rounds_; ++round) {
      const bool calls = id == 0 && round == 0;
      if (calls) called_other_.store(1, order::relaxed);
      require<P>(wait(id % 2 != 0) < most_looks, "patience without end");
    }
  }

  void finish() {
    require<P>(waiting_.load(order::relaxed) == 0 && machine_.own_waiting.load(order::relaxed) == 0,
               "a thread is counted that does not wait");
    require<P>(called_other_.load(order::relaxed) == 0,
               "no thread has made room for the progress thread that was called");
  }

 private:
  static constexpr unsigned fewest_looks = 240;  // with no time behind them
  static constexpr unsigned most_looks = 1'000;

  unsigned wait(bool gives_way) {
    Patience patience(machine_);
    unsigned looks = 0;
    while (looks != most_looks && patience.spend()) {
      if (gives_way) patience.give_way();
      if (looks == fewest_looks) require<P>(waiting_.load(order::relaxed) <= threads_, "more are counted than wait");
      ++looks;
    }
    return looks;
  }

  const unsigned threads_;
  const unsigned rounds_;
  safety::Machine<Clock> machine_;
  typename P::template atomic<std::uint32_t> waiting_{0};
  typename P::template atomic<std::uint32_t> called_other_{0};
};

}  // namespace heddle::test
