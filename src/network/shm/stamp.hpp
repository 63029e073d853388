// Stamps: what orders messages of one rank that come on several ways, without anything that its threads share.
//
// The processor's time-stamp counter, read after all earlier loads: of two sends that are ordered, by one thread or by threads
// that synchronize, the later has the larger stamp, since what orders them takes longer than a tick. That holds as long
// as the counters of all cores agree, which the kernel watches.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::lln::shm {

inline std::uint64_t stamp() {
  unsigned cpu;
  return __builtin_ia32_rdtscp(&cpu);
}

// Whether the counters of all cores agree; if not, why it is thought so.
bool stamps_are_ordered(std::string& why);

}  // namespace heddle::lln::shm
