// The instructions of base/platform/instructions.hpp in virtual time: the preset `simulate` finds this header first.
#pragma once

#include <cstdint>

#include "simulator/instructions.hpp"

namespace heddle::platform {

inline void pause_core() noexcept { heddle_simulated_pause(); }
inline std::uint64_t read_ticks() noexcept { return heddle_simulated_ticks(); }
inline std::uint64_t read_ticks_after_loads() noexcept { return heddle_simulated_ticks(); }
inline void ask_for_line(const void* line) noexcept { heddle_simulated_prefetch(line); }
inline void ask_for_line_to_write(const void* line) noexcept { heddle_simulated_prefetch_for_write(line); }
inline void complete_loads() noexcept {}  // loads are never in flight

}  // namespace heddle::platform
