// Rank 0's part in the start of a job: it hears from the agents of all nodes which ranks they have.
#pragma once

#include <cstdint>
#include <string>

#include "boot/launched/connection.hpp"
#include "boot/launched/gather.hpp"
#include "boot/launched/keyed_hash.hpp"

namespace heddle::boot {

inline constexpr std::int64_t root_limit = 60'000;  // milliseconds until the agents of all nodes have come

// Fills the list of nodes, which has rank 0's own already, and who is where, and tells all of them. False, with the reason: some did not
// come, or their ranks cannot be a job; the caller tells them that.
bool gather_agents(const Descriptor& listener, const Secret& secret, int size, Gathered& gathered, std::string& why);

// The first ranks of the nodes, and behind them `size`, of nodes that stand in the order of their ranks. Nothing, with the reason: the
// ranks of a node are not consecutive, or some are missing or on two nodes.
bool lay_out_nodes(const std::vector<NodeLink>& nodes, int size, std::vector<int>& first_ranks, std::string& why);

}  // namespace heddle::boot
