// A random order of threads in place of that of virtual time: probabilistic concurrency testing.
//
// Each thread has a random priority, and the ready thread with the highest one runs. At random moments, the change points,
// the running thread gets the lowest priority of all. So does a thread that yields or has polled for long, because it may
// wait for another one. Burckhardt and others, "A randomized scheduler with probabilistic guarantees of finding bugs",
// ASPLOS 2010.
#pragma once

#include <cstdint>

#include "simulator/machine.hpp"
#include "simulator/random.hpp"

namespace heddle::simulator {

class Fuzz {
 public:
  explicit Fuzz(const Settings& settings) : random_(settings.seed), most_(settings.fuzz_changes), on_(settings.fuzz) {
    // Between two change points: from a few accesses to some thousands. Each run has a mean of its own.
    mean_ = static_cast<double>(settings.machine.access) * 16 * static_cast<double>(1U << random_.below(11));
  }

  bool on() const { return on_; }
  // A smaller number runs first.
  std::uint64_t first_priority() { return random_.below(std::uint64_t{1} << 40); }
  std::uint64_t lowest_priority() { return ++lowest_; }
  // The time of the next change point after `now`; never: there are no more.
  Time next_change(Time now) {
    if (changes_ == most_) return never;
    ++changes_;
    return now + static_cast<Time>(random_.exponential(mean_)) + 1;
  }
  std::uint64_t changes() const { return changes_; }
  // True if a store that is still in its core's buffer leaves it now.
  bool leaves() { return random_.below(8) == 0; }
  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  bool delays() { return random_.below(2) == 0; }

 private:
  Random random_;
  std::uint64_t most_;
  bool on_;
  double mean_ = 0;
  std::uint64_t changes_ = 0;
  std::uint64_t lowest_ = std::uint64_t{1} << 41;
};

}  // namespace heddle::simulator
