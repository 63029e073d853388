// The machine for hierarchical locks.
#pragma once

#include "base/platform/topology.hpp"

namespace heddle::safety {

// Two levels: processors that share a NUMA node, within those that share a package (HMCS, cohort locks).
platform::Topology numa_topology();
// Processors that share a core, within those that share a NUMA node.
platform::Topology core_topology();

}  // namespace heddle::safety
