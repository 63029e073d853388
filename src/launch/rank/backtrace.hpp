// A backtrace of the calling thread, from within a signal handler: nothing here allocates, locks, or needs memory that
// may be broken, beyond the stack that is read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle {

struct Frame {
  std::uintptr_t address = 0;
  const char* module = nullptr;  // path of the library or program; null: none that is known
  std::uintptr_t offset = 0;     // path of the library or program; null: unknown
  const char* symbol = nullptr;  // the linker's name; null: it is not exported
  std::uintptr_t distance = 0;   // from there
};

inline constexpr std::size_t most_frames = 64;

// Addresses of the current calls, the innermost first, from the one at `first`, which a signal has interrupted, on.
// Their number: at least that one.
std::size_t collect_frames(std::uintptr_t (&addresses)[most_frames], std::uintptr_t first);

// The place of an address in the program.
Frame find_frame(std::uintptr_t address);

}  // namespace heddle
