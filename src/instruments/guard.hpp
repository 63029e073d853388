// Takes a lock, and counts what that cost.
#pragma once

#include "instruments/counters.hpp"
#include "instruments/span.hpp"
#include "sync/lock.hpp"

namespace heddle::instruments {

// Out of line: not on the way of those who do not count. Trying first tells a free lock from a taken one, and only
// waiting is timed; a lock whose lock() would have found it free is taken by try_lock() the same way.
template <sync::Lock L>
[[gnu::noinline]] void acquire_counted(Counters& counters, L& lock, typename L::node& node) {
  count(counters, Count::acquisitions);
  if (lock.try_lock(node)) return;
  count(counters, Count::contended);
  ExactSpan span(counters, Time::lock);
  lock.lock(node);
}

template <sync::Lock L>
[[gnu::always_inline]] inline void acquire(Counters& counters, L& lock, typename L::node& node) {
  if (counting()) [[unlikely]] {
    acquire_counted(counters, lock, node);
  } else {
    lock.lock(node);
  }
}

// As the low class, where the lock knows classes.
template <sync::Lock L>
[[gnu::always_inline]] inline void acquire_low(Counters& counters, L& lock, typename L::node& node) {
  if (counting()) [[unlikely]] {
    count(counters, Count::acquisitions);
    ExactSpan span(counters, Time::lock);
    sync::lock_low(lock, node);
  } else {
    sync::lock_low(lock, node);
  }
}

template <sync::Lock L>
bool try_acquire(Counters& counters, L& lock, typename L::node& node) {
  const bool taken = lock.try_lock(node);
  count(counters, taken ? Count::acquisitions : Count::refused);
  return taken;
}

// Operations of others that a holder has done in one acquisition.
inline void combined(Counters& counters, std::uint64_t n) {
  if (Cell* cell = counters.mine()) [[unlikely]]
    cell->combined(n);
}

}  // namespace heddle::instruments
