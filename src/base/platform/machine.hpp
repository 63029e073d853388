// Reads the topology of this machine, with hwloc. Link heddle_machine; no hwloc type appears here.
#pragma once

#include <initializer_list>

#include "base/platform/topology.hpp"

namespace heddle::platform {

// What the processors of a domain share.
enum class Sharing { core, last_cache, numa_node, package };

// One level for each kind of sharing that is asked for, from the finest to the coarsest. Where hwloc knows nothing of a
// kind, its level is one domain.
Topology read_topology(std::initializer_list<Sharing> levels);

}  // namespace heddle::platform
