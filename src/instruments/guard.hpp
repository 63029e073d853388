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

// Gives back at the end of a scope what has been taken.
template <sync::Lock L>
class Release {
 public:
  Release(L& lock, typename L::node& node) : lock_(lock), node_(node) {}
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;
  ~Release() { lock_.unlock(node_); }

 private:
  L& lock_;
  typename L::node& node_;
};

template <sync::Lock L>
bool try_acquire(Counters& counters, L& lock, typename L::node& node) {
  const bool taken = lock.try_lock(node);
  count(counters, taken ? Count::acquisitions : Count::refused);
  return taken;
}

namespace detail {

template <sync::Lock L, class F>
[[gnu::cold, gnu::noinline]] decltype(auto) guarded_counted(Counters& counters, L& lock, Time what, F& work) {
  typename L::node node;
  acquire_counted(counters, lock, node);
  const Release release(lock, node);
  const Span span(counters, what);
  return work();
}

}  // namespace detail

// Does the work under the lock; what the work takes is time of the given kind. There are two copies of it, so that the
// one for those who do not count is not burdened by more than the question.
template <sync::Lock L, class F>
[[gnu::always_inline]] inline decltype(auto) guarded(Counters& counters, L& lock, Time what, F&& work) {
  if (counting()) [[unlikely]]
    return detail::guarded_counted(counters, lock, what, work);
  const sync::Guard guard(lock);
  return work();
}

}  // namespace heddle::instruments
