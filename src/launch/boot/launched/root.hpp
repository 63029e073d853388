// Rank 0's part in the start of a job: it collects the lists of ranks from the agents of all nodes.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "launch/boot/launched/connection.hpp"
#include "launch/boot/launched/gather.hpp"
#include "network/keyed_hash.hpp"

namespace heddle::boot {

using lln::Secret;

inline constexpr std::int64_t root_limit = 60'000;  // milliseconds until the agents of all nodes have connected

// Fills the list of nodes, which has rank 0's own already, and the placement of ranks, and sends it to all. A
// failure: some did not connect, or their ranks cannot be a job; the caller tells them that.
Result<void> gather_agents(const Descriptor& listener, const Secret& secret, int size, Gathered& gathered);

// Numbers the ranks node by node, of nodes in the order of their first ranks: fills `first_ranks` and `order`. False:
// some are missing, or on two nodes.
bool number_ranks(int size, Gathered& gathered);

}  // namespace heddle::boot
