// The real machine, on which a test can see that a thread has come to wait: for tests of order, which must know who
// queued first without guessing by time.
#pragma once

#include <thread>

#include "base/platform/native.hpp"

namespace heddle::test {

struct Observed : platform::Native {
  // How many waits have begun, of threads that had none since their last `fresh`.
  static inline std::atomic<std::uint32_t> waiters{0};
  static inline thread_local bool waiting = false;

  static void fresh() { waiting = false; }

  template <class T, class Predicate>
  static T await(const atomic<T>& cell, platform::order o, Predicate satisfied) {
    const T value = cell.load(o);
    if (satisfied(value)) return value;
    if (!waiting) {
      waiting = true;
      waiters.fetch_add(1);
    }
    return Native::await(cell, o, satisfied);
  }

  static void until_waiting(std::uint32_t n) {
    while (waiters.load() < n) std::this_thread::yield();
  }
};

static_assert(platform::Platform<Observed>);

}  // namespace heddle::test
