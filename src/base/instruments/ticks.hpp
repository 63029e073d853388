// The processor's time-stamp counter: cheap to read, the same on all cores, and steady (every x86-64 of the last decade).
#pragma once

#include <cstdint>

#include "base/platform/instructions.hpp"

namespace heddle::instruments {

inline std::uint64_t ticks() { return platform::read_ticks(); }

// Begins to measure the counter's rate, which takes a while; done once.
void start_ticks();

// Ticks to seconds, by the measured rate.
double seconds(std::uint64_t ticks);

}  // namespace heddle::instruments
