// Takes a lock, and counts the cost.
#pragma once

#include "base/instruments/cells.hpp"
#include "base/instruments/span.hpp"
#include "base/sync/lock.hpp"

namespace heddle::instruments {

// Out of line: not executed while counting is off. Trying first distinguishes a free lock from a taken one, and only
// waiting, which is left to wait(), is timed; a lock that lock() would have found free is taken by try_lock() the same
// way.
template <sync::Lock L, class Wait>
[[gnu::noinline]] void wait_counted(Counters& counters, L& lock, typename L::node& node, Wait wait) {
  if (lock.try_lock(node)) return;
  count(counters, Count::contended);
  const ExactSpan span(counters, Time::lock);
  wait(lock, node);
}

template <sync::Lock L>
[[gnu::always_inline]] inline void acquire(Counters& counters, L& lock, typename L::node& node) {
  if (counting()) [[unlikely]] {
    wait_counted(counters, lock, node, [](L& l, typename L::node& n) { l.lock(n); });
    count_held(counters, Count::acquisitions);
  } else {
    lock.lock(node);
  }
}

// As the low class, where the lock knows classes.
template <sync::Lock L>
[[gnu::always_inline]] inline void acquire_low(Counters& counters, L& lock, typename L::node& node) {
  if (counting()) [[unlikely]] {
    wait_counted(counters, lock, node, [](L& l, typename L::node& n) { sync::lock_low(l, n); });
    count_held(counters, Count::acquisitions);
  } else {
    sync::lock_low(lock, node);
  }
}

// A lock that guards something else than the counters' owner.
template <sync::Lock L>
[[gnu::always_inline]] inline void acquire_beside(Counters& counters, L& lock, typename L::node& node) {
  if (counting()) [[unlikely]] {
    wait_counted(counters, lock, node, [](L& l, typename L::node& n) { l.lock(n); });
    count(counters, Count::acquisitions);
  } else {
    lock.lock(node);
  }
}

template <sync::Lock L>
[[gnu::always_inline]] inline bool try_acquire(Counters& counters, L& lock, typename L::node& node) {
  const bool taken = lock.try_lock(node);
  if (taken) {
    count_held(counters, Count::acquisitions);
  } else {
    count(counters, Count::refused);
  }
  return taken;
}

// Operations of others that the caller, the holder, has executed in one acquisition.
inline void combined(Counters& counters, std::uint64_t n) {
  if (Cell* cell = counters.held()) [[unlikely]]
    cell->combined(n);
}

}  // namespace heddle::instruments
