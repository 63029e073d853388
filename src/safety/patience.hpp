// How a waiting thread spends its time before it sleeps.
//
// Competitive spinning: a sleeper costs a wake-up, so waiting awake for about as long as a wake-up costs is at most
// twice as dear as knowing the future. Awake is not the same as burning: with fewer runnable threads than cores it
// polls with pauses; with more it gives the core away between looks, since whoever it waits for may need that very
// core.
#pragma once

#include <sched.h>

#include <cstdint>

namespace heddle {

struct Machine {
  bool crowded = false;              // more ranks than cores: somebody always needs this core
  std::uint32_t looks_per_yield = 64;
};

class Patience {
 public:
  explicit Patience(const Machine& machine) : crowded_(machine.crowded) {}

  // Something moved: what is waited for may be near.
  void reset() { looks_ = 0; }

  // Spends a moment; false when it is time to sleep.
  bool spend() {
    ++looks_;
    if (!crowded_ && looks_ < free_looks) {
      __builtin_ia32_pause();
      return true;
    }
    if (crowded_ && looks_ < crowded_looks) {
      __builtin_ia32_pause();
      return true;
    }
    sched_yield();
    yields_start_ = yields_start_ ? yields_start_ : looks_;
    return looks_ - yields_start_ < yields;
  }

 private:
  // A look with its pause takes about 15-40 ns, a yield that finds nobody else about 300 ns.
  static constexpr std::uint32_t free_looks = 1000;
  static constexpr std::uint32_t crowded_looks = 20;
  static constexpr std::uint32_t yields = 100;

  bool crowded_;
  std::uint32_t looks_ = 0;
  std::uint32_t yields_start_ = 0;
};

}  // namespace heddle
