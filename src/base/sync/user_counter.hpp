// User-level synchronization counter (USC): the waiter watches the word.
//
// Source, use, invariants, memory orders: see sync_counter.hpp. Progress: signal and force are one atomic operation
// each, the last touch of the counter: the waiter may destroy it as soon as it is complete. When: every waiter has a
// core, or belongs to a user-level thread runtime, which suspends it meanwhile. In the library: not used; spinning
// waiters watch a KernelCounter, so that a signaller need not know. It is measured beside that.
#pragma once

#include "base/sync/sync_counter.hpp"

namespace heddle::sync {

template <platform::Platform P>
class UserCounter : public CounterWord<P> {
  using order = platform::order;
  using Base = CounterWord<P>;

 public:
  void signal() { this->word_.fetch_sub(1, order::release); }
  void force() { this->word_.fetch_or(Base::forced, order::release); }
  Wake wait() { return this->watch(); }
};

}  // namespace heddle::sync
