// The segment of a node whose ranks were not started by mpiexec: the node's agent makes it, with the header of the
// whole job, and passes its descriptor to the others.
#pragma once

#include <memory>

#include "base/platform/sparse_memory.hpp"
#include "base/result.hpp"
#include "launch/boot/launched/gather.hpp"
#include "launch/boot/wireup.hpp"

namespace heddle::boot {

using Segment = std::shared_ptr<platform::SparseMemory>;

// With the part before the memory of the node.
Result<Segment> make_node_segment(Gathered& gathered, const Wireup& wireup, bool pretended);
// The agent's answer, with its rank.
Result<Segment> receive_node_segment(Connection& agent, int& agent_rank);

}  // namespace heddle::boot
