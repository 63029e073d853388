#include "base/platform/hardware.hpp"

#include <dirent.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace heddle {

namespace {

std::string cpu_directory(int cpu) { return "/sys/devices/system/cpu/cpu" + std::to_string(cpu); }

int read_number(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  int value = nowhere;
  if (!file || std::fscanf(file.get(), "%d", &value) != 1) return nowhere;
  return value;
}

// The kernel marks a CPU's NUMA node by a link called node<N> in the CPU's directory.
int numa_node(int cpu) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(cpu_directory(cpu).c_str()), closedir);
  if (!directory) return nowhere;
  while (const dirent* entry = readdir(directory.get())) {
    if (std::string_view(entry->d_name).starts_with("node")) return std::atoi(entry->d_name + 4);
  }
  return nowhere;
}

}  // namespace

std::array<int, hardware_kinds> hardware_of_cpu(int cpu) {
  const int package = read_number(cpu_directory(cpu) + "/topology/physical_package_id");
  const int core = read_number(cpu_directory(cpu) + "/topology/core_id");
  // Cores are numbered within their package.
  const int core_of_machine = package == nowhere || core == nowhere ? nowhere : package * 65536 + core;
  return {package, numa_node(cpu), core_of_machine};
}

std::array<int, hardware_kinds> hardware_of_this_process() {
  std::array<int, hardware_kinds> result;
  result.fill(nowhere);
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return result;
  bool first = true;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const auto its = hardware_of_cpu(cpu);
    for (std::size_t kind = 0; kind < hardware_kinds; ++kind) {
      if (first) {
        result[kind] = its[kind];
      } else if (result[kind] != its[kind]) {
        result[kind] = nowhere;
      }
    }
    first = false;
  }
  return result;
}

}  // namespace heddle
