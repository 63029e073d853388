// A number that is most likely unique on this machine; never 0.
#pragma once

#include <sys/random.h>
#include <time.h>

#include <cstdint>

namespace heddle::boot {

inline std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number || number == 0) {
    // No randomness this early in a boot: a value that no two processes of a machine share is enough.
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    number = (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec)) *
                 0x9e3779b97f4a7c15 +
             reinterpret_cast<std::uintptr_t>(&number);
  }
  return number | 1;
}

}  // namespace heddle::boot
