// Called work: work that is in a work list (work_list.hpp) only while a thread has called for it, so that polls of the list cost nothing
// else; and whom a call has to wake.
//
// Source: ours. A call comes after the store that makes the work visible. The poll of the work marks its beginning before it looks.
//
// Nothing is missed: call() and begin_poll() exchange the same word, so of a store with its call and a poll, either the poll sees the store
// or the call leaves `called` behind, and end_poll() then says that the work stays in the list. Work whose poll has ended is in no list: a
// poll takes work out of it. So the next call may add it again at once.
//
// No wake-up is lost: a sleeper has polled all work of the list. A call that finds the work idle or polled wakes; one that finds it called
// does not, since the work is in the list, or in the hands of a thread, and no poll has begun since another call, which wakes or has woken
// every thread that had begun to sleep by then. A sleeper that comes later polls the work, or misses it in another thread's hands, and then that
// thread wakes (work_list.hpp).
//
// Memory orders: the exchanges acquire and release, so that a poll sees what each caller before it has stored. Progress: wait free.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P>
class CalledWork {
  using order = platform::order;

 public:
  enum class Call : std::uint8_t {
    add,   // the caller adds the work to the list, and wakes sleepers
    wake,  // it is there, or being polled; the caller wakes sleepers
    none,  // the same, and no thread has to be woken
  };

  Call call() {
    switch (state_.exchange(called, order::acq_rel)) {
      case idle:
        return Call::add;
      case polled:
        return Call::wake;
      default:
        return Call::none;
    }
  }
  // Any thread: the work is in the list, or being polled.
  bool is_called() const { return state_.load(order::acquire) != idle; }

  // The thread that polls the work. True: there was a call since the last poll began.
  bool begin_poll() { return state_.exchange(polled, order::acq_rel) == called; }
  // The poll has left nothing. False: there was a call since it began, so the work stays in the list, and is polled again before a thread
  // sleeps.
  bool end_poll() {
    std::uint32_t expected = polled;
    return state_.compare_exchange(expected, idle, order::acq_rel, order::relaxed);
  }

 private:
  static constexpr std::uint32_t idle = 0, called = 1, polled = 2;
  typename P::template atomic<std::uint32_t> state_{idle};
};

}  // namespace heddle::sync
