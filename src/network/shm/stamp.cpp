#include "network/shm/stamp.hpp"

#include <fstream>
#include <string>

namespace heddle::lln::shm {

Result<void> stamps_are_ordered() {
  // The kernel removes the counter from this list when it finds it unsteady or different between cores.
  const char* const list = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
  std::ifstream sources(list);
  for (std::string source; sources >> source;)
    if (source == "tsc") return {};
  return refuse("needs time-stamp counters that agree on all cores, which the kernel does not confirm in %s", list);
}

}  // namespace heddle::lln::shm
