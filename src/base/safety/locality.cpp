#include "base/safety/locality.hpp"

#include <unistd.h>

#include <map>
#include <utility>
#include <vector>

#include "base/platform/hardware.hpp"

namespace heddle::safety {

namespace {

enum Kind : std::size_t { package, numa, core };  // as in hardware_names

// The domain of each processor, numbered from 0 in order of appearance; unknown ones are together.
platform::Topology::Level level_of(const std::vector<std::array<int, hardware_kinds>>& processors, Kind kind) {
  platform::Topology::Level level;
  std::map<int, std::uint32_t> domains;
  for (const auto& its : processors) {
    const auto fresh = static_cast<std::uint32_t>(domains.size());
    level.push_back(domains.emplace(its[kind], fresh).first->second);
  }
  return level;
}

std::vector<std::array<int, hardware_kinds>> read_processors() {
  std::vector<std::array<int, hardware_kinds>> processors;
  const long n = sysconf(_SC_NPROCESSORS_CONF);
  processors.reserve(static_cast<std::size_t>(n));
  for (int cpu = 0; cpu < n; ++cpu) processors.push_back(hardware_of_cpu(cpu));
  return processors;
}

}  // namespace

platform::Topology numa_topology() {
  const auto processors = read_processors();
  return platform::Topology({level_of(processors, numa), level_of(processors, package)});
}

platform::Topology core_topology() {
  const auto processors = read_processors();
  return platform::Topology({level_of(processors, core), level_of(processors, numa)});
}

}  // namespace heddle::safety
