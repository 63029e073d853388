// How a waiting thread spends its time before it sleeps.
//
// How long it is awake, and whether it sleeps at all, says the policy (wait_policy.hpp). Awake is not the same as
// burning: after its first looks a thread polls with pauses only while every waiting thread of the job can have a core
// of its own, and every waiting thread of its rank one of the cores that the rank is bound to. With more of them it
// gives the core away between looks, since whoever it waits for may need that very core; and so with one core for all.
// Threads that compute are not counted, since nobody tells of them: they get the core after `looks_per_yield` looks.
//
// The first looks are given up by the passive policy alone, however crowded the cores are. Answers come
// within them whenever both partners happen to run: then the two keep their cores until the scheduler ends their slice,
// and exchange thousands of messages without a single switch (docs/adr/0028, also for their number). A thread that has given
// its core away has most likely lost step with its partner: then it looks less often, and twice as often with each answer that
// comes while it looks, until it is in step again (docs/adr/0033, 0077). What had come before the first look says nothing of
// whether its sender still runs.
//
// The time of a thread is what it spends itself. While others have the core that it gave away it costs them nothing, and what
// they do may be what it waits for. Who slept for the length of such a yield would sleep because others are awake; going to
// sleep and being woken would keep those waiting, until they slept in their turn. But after a few long yields it sleeps all
// the same: it is threads that compute who have the core then, and a sleeper is woken ahead of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/platform/native.hpp"
#include "base/safety/wait_policy.hpp"

namespace heddle::safety {

// What waiting must know of the machine, and what was asked for.
template <platform::Platform P>
struct Machine {
  template <class T>
  using atomic = typename P::template atomic<T>;
  using order = platform::order;

  atomic<std::uint32_t>* waiting = nullptr;  // threads of all ranks that wait awake; in shared memory
  std::uint32_t cores = 1;                   // that all ranks together may use
  std::uint32_t own_cores = 1;               // that this rank may use: those it is bound to, or all
  bool crowded = false;                      // more ranks than cores
  WaitPolicy policy;
  std::int64_t wake_up = 0;  // nanoseconds: what waking a sleeper costs
  std::int64_t awake = 0;    // nanoseconds, from the last thing that moved; 0: passive
  // Nobody sleeps. Not of a rank that has come down: what its own helpers wait for may never come.
  atomic<bool> busy{false};
  // This rank has called another's helper (base/sync/doorbell.hpp), which may get no core but that of a thread that sleeps.
  // Null: there are cores to spare.
  atomic<std::uint32_t>* called_helper = nullptr;
  // Moves the calling thread into this rank's share of the cores, from where it is free to move. Null: it is bound.
  void (*spread)(int part, int parts) = nullptr;
  int part = 0;
  int parts = 1;
  // Threads of this rank that wait awake, if it is bound. From here on what is written in long waits; above what is read in short ones.
  alignas(platform::cache_line) mutable atomic<std::uint32_t> own_waiting{0};
  mutable atomic<std::uint32_t> shared_yields{0};
  mutable atomic<std::int64_t> last_spread{0};

  void begin_waiting() const {
    waiting->fetch_add(1, order::relaxed);
    if (is_bound()) own_waiting.fetch_add(1, order::relaxed);
  }
  void end_waiting() const {
    if (is_bound()) own_waiting.fetch_sub(1, order::relaxed);
    waiting->fetch_sub(1, order::relaxed);
  }
  // To fewer cores than the job has; else the job's count says all.
  bool is_bound() const { return own_cores < cores; }
  // Whether those who wait need each other's cores.
  bool short_of_cores() const {
    return cores == 1 || waiting->load(order::relaxed) > cores || own_waiting.load(order::relaxed) > own_cores;
  }
  // Whether each core has several of them to run.
  bool many_wait() const {
    return waiting->load(order::relaxed) > 2 * cores || own_waiting.load(order::relaxed) > 2 * own_cores;
  }
};

template <platform::Platform P>
class Patience {
  using order = platform::order;

 public:
  explicit Patience(const Machine<P>& machine)
      : machine_(machine), first_looks_(machine.awake == 0 ? 0 : trust().looks) {}
  ~Patience() {
    if (counted_)
      machine_.end_waiting();
    else if (looks_ != 0)
      trust().looks = std::min(first_looks, 2 * trust().looks);
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  // Something moved: what is waited for may be near. Or what moved is another thread's, who needs a core to go on.
  void reset() {
    looks_ = first_looks_ - std::min(first_looks_, trust().looks < first_looks ? more_looks_out_of_step : more_looks);
    if (counted_) {
      since_ = P::now();
      long_yields_ = 0;
    }
  }

  // Somebody else looks, and may need this core for it.
  void give_way() { looks_ = std::max(looks_, first_looks_); }

  // Spends a moment between two looks; false when the time is over.
  bool spend() {
    if (looks_ < first_looks_) [[likely]] {
      ++looks_;
      P::await_loads();  // and no pause: an answer that comes meanwhile would wait for its end
      return true;
    }
    return spend_more();
  }

 private:
  // Out of line: by then the wait is a long one, and may touch the line that all waiting threads of the job share.
  [[gnu::noinline]] bool spend_more() {
    if (machine_.awake == 0) return false;
    if (!counted_) {
      counted_ = true;
      machine_.begin_waiting();
      since_ = P::now();
    }
    if (machine_.called_helper != nullptr && machine_.called_helper->load(order::relaxed) != 0) [[unlikely]] {
      machine_.called_helper->store(0, order::relaxed);
      return false;
    }
    const bool crowded = machine_.short_of_cores();
    if (!crowded && ++looks_ % looks_per_yield != 0) {
      P::pause(1);
      return true;
    }
    if (crowded) trust().looks = looks_out_of_step;
    const std::int64_t before = P::now();
    P::yield_core();
    const std::int64_t after = P::now();
    if (after - before > yield_alone) {
      if (!crowded) share_noticed(after);
      if (++long_yields_ <= few_long_yields) since_ += after - before;
    }
    if (crowded && machine_.waiting->load(order::relaxed) > 2 * machine_.cores) gather(after);
    return after - since_ < machine_.awake;
  }

  // There is a core for each thread that waits, and yet somebody else ran in our yield. Two ranks that yield to each other
  // can stay on one core for seconds, each looking idle enough to the scheduler, at a quarter of their speed.
  void share_noticed(std::int64_t now) const {
    if (machine_.spread == nullptr || machine_.shared_yields.fetch_add(1, order::relaxed) < few_yields) return;
    machine_.shared_yields.store(0, order::relaxed);
    if (now - machine_.last_spread.load(order::relaxed) < spread_period) return;
    machine_.last_spread.store(now, order::relaxed);
    machine_.spread(machine_.part, machine_.parts);
  }

  // Many wait. Those of one rank use the same protection, rings and queues, and are faster in turns on a core than on all at
  // once; and whoever they talk to has the other cores then (docs/adr/0027). A thread is moved and not bound: the
  // kernel takes it elsewhere when a core idles.
  void gather(std::int64_t now) const {
    std::int64_t& last = P::template local<std::int64_t, struct LastGathered>();
    if (machine_.spread == nullptr || now - last < gather_period) return;
    last = now;
    machine_.spread(machine_.part, machine_.parts);
  }

  static constexpr std::uint32_t first_looks = 240;  // without giving the core away
  static constexpr std::uint32_t looks_out_of_step = 30;
  static constexpr std::uint32_t more_looks = 20;  // after something moved
  static constexpr std::uint32_t more_looks_out_of_step = 5;
  static constexpr std::uint32_t looks_per_yield = 64;  // the core may be wanted by a thread that computes
  static constexpr std::int64_t yield_alone = 1'500;    // nanoseconds; a yield that takes longer has run somebody
  static constexpr std::uint32_t few_long_yields = 4;
  static constexpr std::uint32_t few_yields = 16;
  static constexpr std::int64_t spread_period = 10'000'000;
  static constexpr std::int64_t gather_period = 1'000'000;  // of a thread; a move costs some microseconds

  // How many first looks the calling thread takes: how far it trusts that its partner runs.
  struct Trust {
    std::uint32_t looks = first_looks;
  };
  static Trust& trust() { return P::template local<Trust, Patience>(); }

  const Machine<P>& machine_;
  const std::uint32_t first_looks_;
  std::uint32_t looks_ = 0;
  std::uint32_t long_yields_ = 0;  // since something moved
  bool counted_ = false;
  std::int64_t since_ = 0;
};

// A thread that tests again and again without result is a waiting thread too, though nobody told us so: now and then, or
// every time where threads are more than cores, it gives its core away.
template <platform::Platform P>
class FruitlessTests {
 public:
  void count(bool moved, const Machine<P>& machine) {
    if (moved) {
      n_ = 0;
    } else if (++n_ >= patient_tests) [[unlikely]] {
      rest(machine);
    }
  }

 private:
  static constexpr std::uint32_t patient_tests = 16;
  static constexpr std::uint32_t tests_per_yield = 16;

  [[gnu::noinline]] void rest(const Machine<P>& machine) {
    const bool crowded = machine.waiting->load(platform::order::relaxed) >= machine.cores;  // and this one
    if (crowded || n_ % tests_per_yield == 0) P::yield();  // or other user-level threads run
  }

  std::uint32_t n_ = 0;
};

}  // namespace heddle::safety

namespace heddle {

using Machine = safety::Machine<platform::Native>;
using Patience = safety::Patience<platform::Native>;
using FruitlessTests = safety::FruitlessTests<platform::Native>;

}  // namespace heddle
