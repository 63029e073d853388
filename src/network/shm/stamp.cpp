#include "network/shm/stamp.hpp"

#include <fstream>

namespace heddle::lln::shm {

bool stamps_are_ordered(std::string& why) {
  // The kernel removes the counter from this list when it finds it unsteady or different between cores.
  const char* const list = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
  std::ifstream sources(list);
  for (std::string source; sources >> source;)
    if (source == "tsc") return true;
  why = std::string("needs time-stamp counters that agree on all cores, which the kernel does not confirm in ") + list;
  return false;
}

}  // namespace heddle::lln::shm
