// The module of mpiexec that reads the machine's topology; see topology.hpp.
#include <hwloc.h>

#include "launch/mpiexec/topology.hpp"

namespace heddle::mpiexec {
namespace {

int number_of_part(hwloc_topology_t topology, hwloc_obj_t thread, hwloc_obj_type_t type) {
  hwloc_obj_t part = hwloc_get_ancestor_obj_by_type(topology, type, thread);
  return part != nullptr ? static_cast<int>(part->logical_index) : -1;
}

// NUMA nodes hang beside the tree of cores, so the node is found by its set of hardware threads.
int number_of_numa_node(hwloc_topology_t topology, hwloc_obj_t thread) {
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (hwloc_bitmap_isset(node->cpuset, thread->os_index)) return static_cast<int>(node->logical_index);
  }
  return -1;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int heddle_hardware_threads(HardwareThread* threads, int capacity) {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return -1;
  // Only the parts used below: the rest of the discovery (other caches, devices) is most of its time.
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  for (hwloc_obj_type_t type : {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE}) {
    hwloc_topology_set_type_filter(topology, type, HWLOC_TYPE_FILTER_KEEP_ALL);
  }
  if (hwloc_topology_load(topology) != 0) {
    hwloc_topology_destroy(topology);
    return -1;
  }
  const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
  for (int i = 0; i < count && i < capacity; ++i) {
    hwloc_obj_t thread = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, static_cast<unsigned>(i));
    threads[i] = {.cpu = static_cast<int>(thread->os_index),
                  .core = number_of_part(topology, thread, HWLOC_OBJ_CORE),
                  .l3cache = number_of_part(topology, thread, HWLOC_OBJ_L3CACHE),
                  .numa = number_of_numa_node(topology, thread),
                  .package = number_of_part(topology, thread, HWLOC_OBJ_PACKAGE)};
  }
  hwloc_topology_destroy(topology);
  return count;
}

}  // namespace heddle::mpiexec
