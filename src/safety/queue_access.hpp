// Submission "enqueue and leave" (LockQ): a thread that finds the lock taken leaves its work in a queue beside it, and
// whoever holds the lock next executes that first.
//
// Source: Amer 2019, section 3.4, Fig. 3c: try to lock; if that succeeds execute what is queued, at most `MaxCombine`
// pieces, then the own operation, or enqueue that too if the limit was reached (a footnote there, and not in the figure);
// if it fails, enqueue and leave. Calls that need a result take the lock.
//
// The queue is totally ordered and wait free on the enqueuing side (sync/ticket_queue.hpp), where the paper's SWP queue
// stops the consumer while a producer is between its two steps: with more threads than cores that is a time slice. When
// it is full, the thread waits for the lock.
//
// Work that was enqueued while the holder made its last look stays until somebody enters next. The paper leans on the
// completion call that must follow; a thread that sleeps instead of calling must be roused, hence the result of submit.
#pragma once

#include <cstdint>

#include "safety/environment.hpp"
#include "safety/lock_access.hpp"
#include "safety/work.hpp"
#include "sync/lock.hpp"
#include "sync/ticket_queue.hpp"

namespace heddle::safety {

// MaxCombine is the paper's; Slots are those of the queue.
template <sync::Lock Lock, Environment Env, std::uint32_t MaxCombine = 1024, std::uint32_t Slots = 1024>
class QueueAccess {
  using P = typename Env::Platform;
  using Counters = typename Env::Counters;
  using Wakeups = typename Env::Wakeups;
  using order = platform::order;

 public:
  using Work = safety::Work<Wakeups>;

  static constexpr bool submits = true;
  static constexpr bool injects = false;
  static constexpr bool by_flux = false;
  static constexpr bool announces = false;

  // Of a lock that is made of args.
  template <class... Args>
  explicit QueueAccess(Counters& counters, const Args&... args) : counters_(counters), access_(counters, args...) {}

  // True: the work was executed; false: it is in the queue.
  bool submit(const Work& work) {
    const auto mine = [&](Wakeups& wakeups) { work.run(work.what, wakeups); };
    if (try_run(mine)) return true;
    if (queue_.enqueue(work)) {
      queued_.fetch_add(1, order::relaxed);
      return false;
    }
    run(mine);
    return true;
  }

  template <class F>
  void run(F&& f) {
    access_.run([&](Wakeups& wakeups) {
      while (!combine(wakeups)) {
      }
      f(wakeups);
    });
  }

  template <class F>
  void run_low(F&& f) {
    access_.run_low([&](Wakeups& wakeups) {
      while (!combine(wakeups)) {
      }
      f(wakeups);
    });
  }

  // False also if so much was queued that the caller's turn has not come.
  template <class F>
  bool try_run(F&& f) {
    bool executed = false;
    (void)access_.try_run([&](Wakeups& wakeups) {
      executed = combine(wakeups);
      if (executed) f(wakeups);
    });
    return executed;
  }

  bool pending() const { return queued_.load(order::relaxed) != 0; }

 private:
  // Executes queued work; false if the limit was reached before the queue was empty.
  bool combine(Wakeups& wakeups) {
    Work work;
    std::uint32_t combined = 0;
    while (combined < MaxCombine && queue_.dequeue(work)) {
      queued_.fetch_sub(1, order::relaxed);
      work.run(work.what, wakeups);
      ++combined;
    }
    if (combined != 0) Env::combined(counters_, combined);
    return combined < MaxCombine;
  }

  Counters& counters_;
  LockAccess<Lock, Env> access_;
  alignas(platform::cache_line) typename P::template atomic<std::int32_t> queued_{0};  // a hint; short-term negative
  sync::TicketQueue<P, Work, Slots> queue_;
};

}  // namespace heddle::safety
