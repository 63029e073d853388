// The machine for placing ranks: its hardware threads and the parts that contain each.
//
// hwloc finds them. Loading and running it takes longer than starting two ranks, and most jobs on small machines bind
// nothing, so it is in a module that is opened when a placement needs it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace heddle::mpiexec {

// Numbers of hwloc: parts that are neighbours have neighbouring numbers. -1: the machine has no such part.
struct HardwareThread {
  int cpu;  // as the kernel numbers it
  int core;
  int l3cache;
  int numa;
  int package;
};

// The module's only function: writes at most `capacity` entries in the order of neighbourhood and returns how many
// there are, or -1. C linkage and plain data, because the module and mpiexec each have their own C++ library.
inline constexpr char topology_module[] = "heddle-topology.so";
inline constexpr char topology_function[] = "heddle_hardware_threads";
using TopologyFunction = int (*)(HardwareThread* threads, int capacity);

// The hardware threads among `allowed`, in the order of neighbourhood. A failure: the module can't be opened or read.
Result<std::vector<HardwareThread>> hardware_threads(const std::vector<int>& allowed);

}  // namespace heddle::mpiexec
