// The counts of a thread.
#pragma once

#include <array>
#include <cstdint>

#include "simulator/machine.hpp"
#include "simulator/memory.hpp"

namespace heddle::simulator {

struct Counts {
  std::array<std::uint64_t, accesses> performed{};
  std::array<std::array<std::uint64_t, distances>, accesses> misses{};
  std::uint64_t failed_exchanges = 0;
  std::uint64_t fences = 0;
  std::uint64_t pauses = 0;
  std::uint64_t calls = 0;
  std::uint64_t system_calls = 0;
  std::uint64_t sleeps = 0;  // in the kernel, for another thread
  std::uint64_t wakes = 0;   // threads that this one woke
  std::uint64_t yields = 0;
  std::uint64_t switches = 0;  // to this thread, from another one of its core
};

}  // namespace heddle::simulator
