// Doorbell: the threads of a rank sleep here for many events at once, and the thread that causes one of them rings.
//
// Source: an eventcount (Reed and Kanodia, 1979) whose waiters announce themselves, so that a ring costs nothing while
// no thread sleeps: with the asymmetric fence of the platform the check is a load.
//
// `blocked` counts the sleepers; a thread that causes an event reads it behind a light fence (wake_blocked) and, if it is not
// zero, changes `rings` and wakes. A ring between a sleeper's last poll and its sleep changes `rings`, so the sleep
// does not begin.
//
// A rank may have a progress thread on idle cores (base/progress/idle_cores.hpp), which listens, spinning or blocked, for
// rings while no thread of the program does. It is a bit of `blocked`, so that a sender reads one word; the ring that
// finds the bit alone clears it, so that the thread is called once.
//
// No wake-up is lost: of wait_once() and a store with wake_blocked() behind it, either the last poll of the one sees the
// store, or wake_blocked sees the sleeper; then `rings` has changed before the sleep, or the sleep is ended. Progress: wake_blocked
// and ring are wait free.
//
// Memory orders: the fences order "I sleep", "is there something?" against "there is something", "does a thread
// sleep?"; the carrier of an event hands its data over. ring() releases the stores for the sleeper that reads the new
// `rings`, and reads `blocked` in the same order as the fences. The rest carries no data and is relaxed.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P, platform::Scope Where = platform::Scope::machine>
struct alignas(platform::cache_line) Doorbell {
  using order = platform::order;
  using Word = typename P::template atomic<std::uint32_t>;

  static constexpr std::uint32_t progress_thread_listens = std::uint32_t{1} << 31;

  Word blocked;
  Word rings;
  Word calls;           // of the progress thread
  Word called_another;  // the rank has called another one's progress thread, and its next wait has not begun

  // After a store for which a thread that sleeps here must wake: rings if one does, or listens.
  [[gnu::always_inline]] void wake_blocked() {
    P::light_fence();
    if (blocked.load(order::relaxed) != 0) [[unlikely]]
      ring();
  }

  // Wakes the sleepers, or else calls the progress thread: then true. The caller has seen `blocked` after its store and a fence.
  [[gnu::noinline]] bool ring() {
    // A thread that begins to sleep counts itself, then reads `rings`: either it is seen here, or it sees this.
    rings.fetch_add(1, order::release);
    if (blocked.load(order::seq_cst) == progress_thread_listens) return call_listener();
    P::unpark(rings, ~std::uint32_t{0}, Where);
    return false;
  }

  // For a thread without work for a while: asks the sources of events to ring (ask), polls once more (found), and, if
  // that found nothing, sleeps by sleep(rings). True if it slept. The caller's next poll sees the ring, or its store.
  template <class Ask, class Found, class Sleep>
  bool wait_once(Ask&& ask, Found&& found, Sleep&& sleep) {
    const std::uint32_t seen = rings.load(order::acquire);
    blocked.fetch_add(1, order::relaxed);
    ask();
    P::heavy_fence();
    const bool idle = !found();
    if (idle) sleep(seen);
    blocked.fetch_sub(1, order::relaxed);
    return idle;
  }
  // A hint: true if a thread sleeps here, or is about to.
  bool any_thread_sleeps() const { return (blocked.load(order::relaxed) & ~progress_thread_listens) != 0; }
  // Sleeps unless the bell rang since `seen` was read; may return early.
  void sleep(std::uint32_t seen) { P::park(rings, seen, Where); }

  // ---- The progress thread

  void listen() {
    if ((blocked.load(order::relaxed) & progress_thread_listens) == 0)
      blocked.fetch_or(progress_thread_listens, order::relaxed);
  }
  void listen_no_more() {
    if ((blocked.load(order::relaxed) & progress_thread_listens) != 0)
      blocked.fetch_and(~progress_thread_listens, order::relaxed);
  }
  // Sleeps unless it was called since `seen` was read; may return early.
  void await_call(std::uint32_t seen) { P::park(calls, seen, Where); }
  void call() {
    calls.fetch_add(1, order::relaxed);
    P::unpark(calls, 1, Where);
  }
  // Calls the progress thread if it listens, whether or not others sleep; true if it did.
  bool call_listener() {
    if ((blocked.load(order::relaxed) & progress_thread_listens) == 0) return false;
    if ((blocked.fetch_and(~progress_thread_listens, order::relaxed) & progress_thread_listens) == 0) return false;
    call();
    return true;
  }
};

}  // namespace heddle::sync
