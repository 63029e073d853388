// Stamps: an order for messages of one rank over several ways, without memory that its threads share.
//
// The processor's time-stamp counter, read after all earlier loads: of two sends that are ordered, by one thread or by
// threads that synchronize, the later has the larger stamp, since the synchronization takes longer than a tick. That
// holds as long as the counters of all cores agree, which the kernel watches.
#pragma once

#include <cstdint>

#include "base/platform/instructions.hpp"
#include "base/result.hpp"

namespace heddle::lln::shm {

inline std::uint64_t stamp() { return platform::read_ticks_after_loads(); }

// A failure: the counters of all cores may not agree.
Result<void> stamps_are_ordered();

}  // namespace heddle::lln::shm
