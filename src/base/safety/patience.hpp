// The actions of a waiting thread before it sleeps.
//
// The policy (wait_policy.hpp) gives its spin budget, and whether it sleeps at all. Spinning does not always occupy a
// core: after its first polls a thread polls with pauses only while every waiting thread of the job can have a core of
// its own, and every waiting thread of its rank one of the cores that the rank is bound to. With more waiting threads
// it yields between polls, since the thread that it waits for may need that very core; and so with one core for all.
// Computing threads are not counted, since they are not known here: they get the core after `polls_per_yield` polls.
//
// Only the passive policy skips the first polls, also when oversubscribed. Answers come within them whenever both
// partners happen to run: then the two keep their cores until the scheduler ends their slice, and exchange thousands of
// messages without a single switch (docs/adr/0028, also for their number). After a yield the partner is most likely
// descheduled: then the thread polls less often, and twice as often with each answer that comes while it polls, until
// both run at the same time again (docs/adr/0033, 0077). An answer that had come before the first poll does not show
// that its sender still runs.
//
// The budget is the thread's own time. While others have the core that it yielded it costs them nothing, and their work
// may be the awaited one. A thread that slept for the length of such a yield would sleep because others are spinning;
// its sleep and wake-up would keep those waiting, until they slept in their turn. But after a few long yields it sleeps
// all the same: then computing threads have the core, and a woken thread runs ahead of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/platform/native.hpp"
#include "base/safety/wait_policy.hpp"

namespace heddle::safety {

// The waiting thread's data about the machine, and the user's settings.
template <platform::Platform P>
struct Machine {
  template <class T>
  using atomic = typename P::template atomic<T>;
  using order = platform::order;

  atomic<std::uint32_t>* waiting = nullptr;  // spinning threads of all ranks; in shared memory
  std::uint32_t cores = 1;                   // for all ranks together
  std::uint32_t own_cores = 1;               // for this rank: those it is bound to, or all
  bool oversubscribed = false;               // more ranks than cores
  WaitPolicy policy;
  std::int64_t wake_up = 0;     // nanoseconds: the cost of waking a sleeper
  std::int64_t spinning = 0;    // nanoseconds since the last progress; 0: passive
  std::uint32_t poll_cost = 0;  // a poll takes as long as 2 to this power polls of memory
  // No thread sleeps. Not used by a rank that has shut down: an event for its own library threads may never come.
  atomic<bool> busy{false};
  // This rank has called another one's progress thread (base/sync/doorbell.hpp), which may get no core except that of a
  // thread that sleeps. Null: there are idle cores.
  atomic<std::uint32_t>* called_other = nullptr;
  // Moves the calling thread into this rank's share of the cores, from where it is free to move. Null: it is bound.
  void (*spread)(int part, int parts) = nullptr;
  int part = 0;
  int parts = 1;
  // Spinning threads of this rank, if it is bound. Members from here on are written in long waits; those above are read
  // in short ones.
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
  // True if waiting threads need each other's cores.
  bool short_of_cores() const {
    return cores == 1 || waiting->load(order::relaxed) > cores || own_waiting.load(order::relaxed) > own_cores;
  }
  // True if each core has several of them to run.
  bool many_wait() const {
    return waiting->load(order::relaxed) > 2 * cores || own_waiting.load(order::relaxed) > 2 * own_cores;
  }
};

template <platform::Platform P>
class Patience {
  using order = platform::order;

 public:
  explicit Patience(const Machine<P>& machine)
      : machine_(machine), first_polls_(machine.spinning == 0 ? 0 : trust().looks >> machine.poll_cost) {}
  ~Patience() {
    if (counted_)
      machine_.end_waiting();
    else if (looks_ != 0)
      trust().looks = std::min(first_polls, 2 * trust().looks);
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  // Something moved: the awaited event may be near. Or another thread's event moved, which needs a core to go on.
  void reset() {
    const std::uint32_t more = trust().looks < first_polls ? more_polls_out_of_step : more_polls;
    looks_ = first_polls_ - std::min(first_polls_, more >> machine_.poll_cost);
    if (counted_) {
      since_ = P::now();
      long_yields_ = 0;
    }
  }

  // Another thread polls, and may need this core for it.
  void give_way() { looks_ = std::max(looks_, first_polls_); }

  // Spends a moment between two polls; false when the time is over.
  bool spend() {
    if (looks_ < first_polls_) [[likely]] {
      ++looks_;
      P::await_loads();  // and no pause: an answer that comes meanwhile would wait for its end
      return true;
    }
    return spend_more();
  }

 private:
  // Out of line: by then the wait is a long one, and may touch the line that all waiting threads of the job share.
  [[gnu::noinline]] bool spend_more() {
    if (machine_.spinning == 0) return false;
    if (!counted_) {
      counted_ = true;
      machine_.begin_waiting();
      since_ = P::now();
    }
    if (machine_.called_other != nullptr && machine_.called_other->load(order::relaxed) != 0) [[unlikely]] {
      machine_.called_other->store(0, order::relaxed);
      return false;
    }
    const bool oversubscribed = machine_.short_of_cores();
    if (!oversubscribed && ++looks_ % (polls_per_yield >> machine_.poll_cost) != 0) {
      P::pause(1);
      return true;
    }
    if (oversubscribed) trust().looks = polls_out_of_step;
    const std::int64_t before = P::now();
    P::yield_core();
    const std::int64_t after = P::now();
    if (after - before > yield_alone) {
      if (!oversubscribed) share_noticed(after);
      if (++long_yields_ <= few_long_yields) since_ += after - before;
    }
    if (oversubscribed && machine_.waiting->load(order::relaxed) > 2 * machine_.cores) migrate(after);
    return after - since_ < machine_.spinning;
  }

  // There is a core for each waiting thread, and yet another thread ran in our yield. Two ranks that yield to each
  // other can stay on one core for seconds, each seeming idle enough to the scheduler, at a quarter of their speed.
  void share_noticed(std::int64_t now) const {
    if (machine_.spread == nullptr || machine_.shared_yields.fetch_add(1, order::relaxed) < few_yields) return;
    machine_.shared_yields.store(0, order::relaxed);
    if (now - machine_.last_spread.load(order::relaxed) < spread_period) return;
    machine_.last_spread.store(now, order::relaxed);
    machine_.spread(machine_.part, machine_.parts);
  }

  // Many wait. Those of one rank use the same lock, rings and queues, and are faster one after the other on a core than
  // on all at once; and their partners have the other cores then (docs/adr/0027). A thread is moved and not bound: the
  // kernel moves it elsewhere when a core idles.
  void migrate(std::int64_t now) const {
    std::int64_t& last = P::template local<std::int64_t, struct LastMigration>();
    if (machine_.spread == nullptr || now - last < migration_period) return;
    last = now;
    machine_.spread(machine_.part, machine_.parts);
  }

  static constexpr std::uint32_t first_polls = 240;  // without a yield
  static constexpr std::uint32_t polls_out_of_step = 30;
  static constexpr std::uint32_t more_polls = 20;  // after something moved
  static constexpr std::uint32_t more_polls_out_of_step = 5;
  static constexpr std::uint32_t polls_per_yield = 64;  // the core may be wanted by a thread that computes
  static constexpr std::int64_t yield_alone = 1'500;    // nanoseconds; another thread has run in a longer yield
  static constexpr std::uint32_t few_long_yields = 4;
  static constexpr std::uint32_t few_yields = 16;
  static constexpr std::int64_t spread_period = 10'000'000;
  static constexpr std::int64_t migration_period = 1'000'000;  // of a thread; a move costs some microseconds

  // The number of first polls of the calling thread: its estimate that its partner runs.
  struct Trust {
    std::uint32_t looks = first_polls;
  };
  static Trust& trust() { return P::template local<Trust, Patience>(); }

  const Machine<P>& machine_;
  const std::uint32_t first_polls_;
  std::uint32_t looks_ = 0;
  std::uint32_t long_yields_ = 0;  // since something moved
  bool counted_ = false;
  std::int64_t since_ = 0;
};

// A thread that tests repeatedly without result is a waiting thread too, though it has not registered: now and then, or
// every time where threads outnumber cores, it yields.
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
    const bool oversubscribed = machine.waiting->load(platform::order::relaxed) >= machine.cores;  // and this one
    if (oversubscribed || n_ % tests_per_yield == 0) P::yield();  // or other user-level threads run
  }

  std::uint32_t n_ = 0;
};

}  // namespace heddle::safety

namespace heddle {

using Machine = safety::Machine<platform::Native>;
using Patience = safety::Patience<platform::Native>;
using FruitlessTests = safety::FruitlessTests<platform::Native>;

}  // namespace heddle
