// Submission "enqueue and leave" (LockQ): a thread that finds the lock taken leaves its work in a queue beside it, and
// whoever holds the lock next executes that first.
//
// Source: Amer 2019, section 3.4, Fig. 3c: try to lock; if that succeeds execute what is queued, at most `max_combine`
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

#include <atomic>
#include <cstdint>

#include "instruments/guard.hpp"
#include "platform/native.hpp"
#include "safety/lock_access.hpp"
#include "safety/work.hpp"
#include "sync/lock.hpp"
#include "sync/ticket_queue.hpp"

namespace heddle::safety {

template <sync::Lock Lock>
class QueueAccess {
 public:
  static constexpr bool submits = true;
  static constexpr bool injects = false;
  static constexpr bool by_flux = false;
  static constexpr bool announces = false;
  static constexpr std::uint32_t max_combine = 1024;  // the paper's

  // Of a lock that is made of args.
  template <class... Args>
  explicit QueueAccess(instruments::Counters& counters, const Args&... args)
      : counters_(counters), access_(counters, args...) {}

  // True: the work was executed; false: it is in the queue.
  bool submit(const Work& work) {
    const auto mine = [&](Wakeups& wakeups) { work.run(work.what, wakeups); };
    if (try_run(mine)) return true;
    if (queue_.enqueue(work)) {
      queued_.fetch_add(1, std::memory_order_relaxed);
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

  bool pending() const { return queued_.load(std::memory_order_relaxed) != 0; }

 private:
  // Executes queued work; false if the limit was reached before the queue was empty.
  bool combine(Wakeups& wakeups) {
    Work work;
    std::uint32_t combined = 0;
    while (combined < max_combine && queue_.dequeue(work)) {
      queued_.fetch_sub(1, std::memory_order_relaxed);
      work.run(work.what, wakeups);
      ++combined;
    }
    if (combined != 0) instruments::combined(counters_, combined);
    return combined < max_combine;
  }

  instruments::Counters& counters_;
  LockAccess<Lock> access_;
  alignas(platform::cache_line) std::atomic<std::int32_t> queued_{0};  // a hint; short-term negative
  sync::TicketQueue<platform::Native, Work, 1024> queue_;
};

}  // namespace heddle::safety
