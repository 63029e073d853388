// The cost of waking a blocked thread on this machine. The spin budget of waiting threads follows from it
// (base/safety/wait_policy.hpp), so it is measured once for a job, before its ranks start.
#pragma once

#include <cstdint>

namespace heddle::boot {

// Nanoseconds from before the wake call to the woken thread's first read of the clock: the median of a few. A thread of
// the library and the caller wake each other in turn, so each wakes on a core that has gone idle meanwhile; with one
// core for both, on one that the other has just left. Ends after `wake_up_budget`, also on a loaded machine, with the
// results so far; a wake-up costs at most that. No error: where no thread can be started the result is the budget.
std::int64_t measure_wake_up();

inline constexpr std::int64_t wake_up_budget =
    600'000;  // nanoseconds; some eight wake-ups of a virtual machine's idle core

}  // namespace heddle::boot
