#include "base/platform/machine.hpp"

#include <hwloc.h>

#include <memory>

namespace heddle::platform {
namespace {

hwloc_obj_type_t type_of(Sharing sharing) {
  switch (sharing) {
    case Sharing::core:
      return HWLOC_OBJ_CORE;
    case Sharing::last_cache:
      return HWLOC_OBJ_L3CACHE;
    case Sharing::numa_node:
      return HWLOC_OBJ_NUMANODE;
    case Sharing::package:
      return HWLOC_OBJ_PACKAGE;
  }
  return HWLOC_OBJ_MACHINE;
}

Topology::Level read_level(hwloc_topology_t machine, Sharing sharing, std::size_t processors) {
  Topology::Level level(processors, 0);
  const hwloc_obj_type_t type = type_of(sharing);
  const int count = hwloc_get_nbobjs_by_type(machine, type);
  for (int i = 0; i < count; ++i) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(machine, type, static_cast<unsigned>(i));
    int processor = -1;
    while ((processor = hwloc_bitmap_next(object->cpuset, processor)) >= 0) {
      if (static_cast<std::size_t>(processor) < processors) level[processor] = static_cast<std::uint32_t>(i);
    }
  }
  return level;
}

}  // namespace

Topology read_topology(std::initializer_list<Sharing> levels) {
  hwloc_topology_t machine = nullptr;
  if (hwloc_topology_init(&machine) != 0) return {};
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> owner(machine, hwloc_topology_destroy);
  if (hwloc_topology_load(machine) != 0) return {};
  const auto cpus = static_cast<std::size_t>(hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(machine))) + 1;
  std::vector<Topology::Level> read;
  for (const Sharing sharing : levels) read.push_back(read_level(machine, sharing, cpus));
  return Topology(std::move(read));
}

}  // namespace heddle::platform
