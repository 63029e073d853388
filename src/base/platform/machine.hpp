// Reads the topology of this machine, with hwloc. Link heddle_machine; no hwloc type appears here.
#pragma once

#include <initializer_list>

#include "base/platform/topology.hpp"

namespace heddle::platform {

// The resource that the processors of a domain share.
enum class Sharing { core, last_cache, numa_node, package };

// One level for each requested kind of sharing, from the finest to the coarsest. Where hwloc does not know a kind, its
// level is one domain.
Topology read_topology(std::initializer_list<Sharing> levels);

}  // namespace heddle::platform
