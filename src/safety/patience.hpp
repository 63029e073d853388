// How a waiting thread spends its time before it sleeps.
//
// Competitive spinning: being woken costs a good part of a hundred microseconds where a core has gone idle, so waiting
// awake for about that long is at most twice as dear as knowing the future. Awake is not the same as burning: after its
// first looks a thread polls with pauses only while every waiting thread of the job can have a core of its own. With more
// of them it gives the core away between looks, since whoever it waits for may need that very core.
//
// The first looks are never given up, however crowded the cores are. They take a little less than one switch of threads
// does, and answers come within them whenever both partners happen to run: then the two keep their cores until the
// scheduler ends their slice, and exchange thousands of messages without a single switch. With 8 pairs on 2 cores this
// is two to four times as fast as giving the core away at once, and with 2 pairs six times.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "platform/native.hpp"

namespace heddle {

// What waiting must know of the machine.
struct Machine {
  std::atomic<std::uint32_t>* waiting = nullptr;  // threads of all ranks that wait awake; in shared memory
  std::uint32_t cores = 1;                        // that all ranks together may use
  bool crowded = false;                           // more ranks than cores
  // This rank has called another's helper (lln/shm/doorbell.hpp), which may get no core but that of a thread that sleeps.
  // Null: there are cores to spare.
  std::atomic<std::uint32_t>* called_helper = nullptr;
  // Moves the calling thread into this rank's share of the cores, from where it is free to move. Null: it is bound.
  void (*spread)(int part, int parts) = nullptr;
  int part = 0;
  int parts = 1;
  mutable std::atomic<std::uint32_t> shared_yields{0};
  mutable std::atomic<std::int64_t> last_spread{0};
};

class Patience {
 public:
  explicit Patience(const Machine& machine) : machine_(machine) {}
  ~Patience() {
    if (counted_) machine_.waiting->fetch_sub(1, std::memory_order_relaxed);
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  // Something moved: what is waited for may be near.
  void reset() {
    looks_ = 0;
    if (counted_) since_ = platform::Native::now();
  }

  // Spends a moment between two looks; false when it is time to sleep.
  bool spend() {
    if (looks_ < first_looks) [[likely]] {
      ++looks_;  // and no pause: it is as long as two looks, and an answer that comes meanwhile waits for its end
      return true;
    }
    return spend_more();
  }

 private:
  // Out of line: by then the wait is a long one, and may touch the line that all waiting threads of the job share.
  [[gnu::noinline]] bool spend_more() {
    if (!counted_) {
      counted_ = true;
      machine_.waiting->fetch_add(1, std::memory_order_relaxed);
      since_ = platform::Native::now();
    }
    if (machine_.called_helper != nullptr && machine_.called_helper->load(std::memory_order_relaxed) != 0)
        [[unlikely]] {
      machine_.called_helper->store(0, std::memory_order_relaxed);
      return false;
    }
    const std::uint32_t waiting = machine_.waiting->load(std::memory_order_relaxed);
    const bool crowded = waiting > machine_.cores;
    if (!crowded && ++looks_ % looks_per_yield != 0) {
      platform::Native::pause(1);
      return true;
    }
    const std::int64_t before = platform::Native::now();
    sched_yield();
    const std::int64_t after = platform::Native::now();
    if (!crowded && after - before > yield_alone) share_noticed(after);
    if (waiting > 2 * machine_.cores) gather(after);
    return after - since_ < awake;
  }

  // There is a core for each thread that waits, and yet somebody else ran in our yield. Two ranks that yield to each other
  // can stay on one core for seconds, each looking idle enough to the scheduler, at a quarter of their speed.
  void share_noticed(std::int64_t now) const {
    if (machine_.spread == nullptr || machine_.shared_yields.fetch_add(1, std::memory_order_relaxed) < few_yields)
      return;
    machine_.shared_yields.store(0, std::memory_order_relaxed);
    if (now - machine_.last_spread.load(std::memory_order_relaxed) < spread_period) return;
    machine_.last_spread.store(now, std::memory_order_relaxed);
    machine_.spread(machine_.part, machine_.parts);
  }

  // Many wait. Those of one rank use the same protection, rings and queues, and are faster in turns on a core than on all at
  // once; and whoever they talk to has the other cores then (docs/adr/0027). A thread is moved and not bound: the
  // kernel takes it elsewhere when a core idles.
  void gather(std::int64_t now) const {
    static constinit thread_local std::int64_t last = 0;
    if (machine_.spread == nullptr || now - last < gather_period) return;
    last = now;
    machine_.spread(machine_.part, machine_.parts);
  }

  static constexpr std::uint32_t first_looks = 60;      // about as long as an answer takes that is on its way
  static constexpr std::uint32_t looks_per_yield = 64;  // the core may be wanted by a thread that computes
  static constexpr std::int64_t awake = 200'000;        // nanoseconds
  static constexpr std::int64_t yield_alone = 1'500;    // a yield that takes longer has run somebody
  static constexpr std::uint32_t few_yields = 16;
  static constexpr std::int64_t spread_period = 10'000'000;
  static constexpr std::int64_t gather_period = 1'000'000;  // of a thread; a move costs some microseconds

  const Machine& machine_;
  std::uint32_t looks_ = 0;
  bool counted_ = false;
  std::int64_t since_ = 0;
};

// A thread that tests again and again without result is a waiting thread too, though nobody told us so: now and then, or
// every time where threads are more than cores, it gives its core away.
class FruitlessTests {
 public:
  void count(bool moved, const Machine& machine) {
    if (moved) {
      n_ = 0;
    } else if (++n_ >= patient_tests) [[unlikely]] {
      rest(machine);
    }
  }

 private:
  static constexpr std::uint32_t patient_tests = 16;
  static constexpr std::uint32_t tests_per_yield = 16;

  [[gnu::noinline]] void rest(const Machine& machine) {
    const bool crowded = machine.waiting->load(std::memory_order_relaxed) >= machine.cores;  // and this one
    if (crowded || n_ % tests_per_yield == 0) platform::Native::yield();  // or other user-level threads run
  }

  std::uint32_t n_ = 0;
};

}  // namespace heddle
