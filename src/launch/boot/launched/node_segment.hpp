// The segment of a node whose ranks were not started by mpiexec: the node's agent makes it, with the header of the
// whole job, and passes its descriptor to the others.
#pragma once

#include <memory>

#include "base/platform/sparse_memory.hpp"
#include "launch/boot/launched/gather.hpp"
#include "launch/boot/problem.hpp"
#include "launch/boot/wireup.hpp"

namespace heddle::boot {

// With the part before the memory of the node; null with the reason.
std::shared_ptr<platform::SparseMemory> make_node_segment(Gathered& gathered, const Wireup& wireup, bool pretended,
                                                          Problem& problem);
// The agent's answer, with its rank; null with the reason.
std::shared_ptr<platform::SparseMemory> receive_node_segment(Connection& agent, int& agent_rank, Problem& problem);

}  // namespace heddle::boot
