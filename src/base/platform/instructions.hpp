// The instructions of x86-64 that C++ has no word for. Programs for the simulator have their own version of this header
// (simulator/include).
#pragma once

#include <cstdint>

namespace heddle::platform {

inline void pause_core() noexcept { __builtin_ia32_pause(); }

// The time-stamp counter; the second after all earlier loads.
inline std::uint64_t read_ticks() noexcept { return __builtin_ia32_rdtsc(); }
inline std::uint64_t read_ticks_after_loads() noexcept {
  unsigned cpu;
  return __builtin_ia32_rdtscp(&cpu);
}

// Asks for a cache line, to read it or to store to it. The second by name: the compiler's builtin asks for a line to read
// unless it may count on more than the oldest x86-64; where the processor does not know this one it does nothing.
inline void ask_for_line(const void* line) noexcept { __builtin_prefetch(line); }
inline void ask_for_line_to_write(const void* line) noexcept {
  asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(line)));
}

// Lets no later load begin before the earlier ones have completed.
inline void complete_loads() noexcept { asm volatile("lfence" ::: "memory"); }

}  // namespace heddle::platform
