// Submission "enqueue and leave" (LockQ): a thread that finds the lock taken leaves its work in a queue beside it, and
// the next holder of the lock executes that first.
//
// Source: Amer 2019, section 3.4, Fig. 3c: try to lock; if that succeeds execute the queued work, at most `MaxCombine`
// pieces, then the own operation, or enqueue that too if the limit was reached (a footnote there, and not in the
// figure); if it fails, enqueue and leave. Calls that need a result take the lock.
//
// The queue is totally ordered and wait free on the enqueuing side (base/sync/ticket_queue.hpp), where the paper's SWP queue
// stops the consumer while a producer is between its two steps: with more threads than cores that is a time slice. When
// it is full, the thread waits for the lock.
//
// Work that was enqueued after the holder's last check would stay until the next thread enters. The paper relies on the
// completion call that must follow; but others may wait for a send before that call comes, and a sleeping thread does
// not call. So a thread that has released the lock checks the queue once more, and a thread that has enqueued tries the
// lock once more.
//
// No work is lost: of a release and an enqueue, each with a full fence and a check behind it, either the releasing
// thread sees the work, or the enqueuing one finds the lock free, or taken by another one that releases it later. A
// piece that is taken before it is counted hides another one until it is; then its thread checks.
//
// Memory orders: the fences order "free" against "is there work?" and "work" against "is it free?". The number of
// pieces is released with each, and the next fence of a thread that has seen it acquires: a number above zero shows a
// piece in the queue, at the second check at the latest.
#pragma once

#include <cstdint>

#include "base/safety/environment.hpp"
#include "base/safety/held.hpp"
#include "base/safety/work.hpp"
#include "base/sync/lock.hpp"
#include "base/sync/ticket_queue.hpp"

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

  // With a lock that is made of args.
  template <class... Args>
  explicit QueueAccess(Counters& counters, const Args&... args) : counters_(counters), lock_(args...) {}

  // The work is executed, now or by the holder of the lock, before its release.
  void submit(const Work& work) {
    const auto mine = [&](Wakeups& wakeups) { work.run(work.what, wakeups); };
    if (!try_run(mine)) [[unlikely]]
      leave(work);
  }

  template <class F>
  [[gnu::always_inline]] void run(F&& f) {
    Wakeups wakeups;
    Node node(&lock_);
    const LastCheck last(*this, *node, wakeups);
    Env::acquire(counters_, lock_, *node);
    run_held(f, *node, wakeups);
  }

  template <class F>
  [[gnu::always_inline]] void run_low(F&& f) {
    Wakeups wakeups;
    Node node(&lock_);
    const LastCheck last(*this, *node, wakeups);
    Env::acquire_low(counters_, lock_, *node);
    run_held(f, *node, wakeups);
  }

  // False also if the limit was reached before the caller's turn.
  template <class F>
  [[gnu::always_inline]] bool try_run(F&& f) {
    Wakeups wakeups;
    Node node(&lock_);
    if (!Env::try_acquire(counters_, lock_, *node)) return false;
    const LastCheck last(*this, *node, wakeups);
    const Held<Lock> held(lock_, *node);
    if (combine(wakeups) == MaxCombine) return false;
    f(wakeups);
    return true;
  }

  bool pending() const { return queued_.load(order::relaxed) > 0; }

 private:
  using Node = typename Env::template NodeFor<typename Lock::node>;

  // After the release of the lock, also if f has thrown.
  struct LastCheck {
    LastCheck(QueueAccess& of, typename Lock::node& mine, Wakeups& whom) : access(of), node(mine), wakeups(whom) {}
    [[gnu::always_inline]] ~LastCheck() { access.poll_again(node, wakeups); }
    LastCheck(const LastCheck&) = delete;
    LastCheck& operator=(const LastCheck&) = delete;

    QueueAccess& access;
    typename Lock::node& node;
    Wakeups& wakeups;
  };

  template <class F>
  [[gnu::always_inline]] void run_held(F&& f, typename Lock::node& node, Wakeups& wakeups) {
    const Held<Lock> held(lock_, node);
    while (combine(wakeups) == MaxCombine) {
    }
    f(wakeups);
  }

  // Executes queued work until the queue is empty or the limit is reached; returns the number of pieces.
  std::uint32_t combine(Wakeups& wakeups) {
    Work work;
    std::uint32_t combined = 0;
    while (combined < MaxCombine && queue_.dequeue(work)) {
      queued_.fetch_sub(1, order::relaxed);
      work.run(work.what, wakeups);
      ++combined;
    }
    if (combined != 0) Env::combined(counters_, combined);
    return combined;
  }

  [[gnu::noinline]] void leave(const Work& work) {
    Wakeups wakeups;
    Node node(&lock_);  // first, since there may be no memory for it
    if (!queue_.enqueue(work)) return run([&](Wakeups& whom) { work.run(work.what, whom); });
    queued_.fetch_add(1, order::release);
    poll_again(*node, wakeups);
  }

  // After a release, or an enqueue.
  [[gnu::always_inline]] void poll_again(typename Lock::node& node, Wakeups& wakeups) {
    P::full_fence();
    if (pending()) [[unlikely]]
      execute_left(node, wakeups);
  }
  [[gnu::cold, gnu::noinline]] void execute_left(typename Lock::node& node, Wakeups& wakeups) {
    while (pending() && Env::try_acquire(counters_, lock_, node)) {
      {
        const Held<Lock> held(lock_, node);
        (void)combine(wakeups);
      }
      P::full_fence();
    }
  }

  Counters& counters_;
  Lock lock_;
  alignas(platform::cache_line) typename P::template atomic<std::int32_t> queued_{0};  // short-term negative
  sync::TicketQueue<P, Work, Slots> queue_;
};

}  // namespace heddle::safety
