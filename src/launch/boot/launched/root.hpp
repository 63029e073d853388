// Rank 0's part in the start of a job: it hears from the agents of all nodes which ranks they have.
#pragma once

#include <cstdint>
#include <string>

#include "launch/boot/launched/connection.hpp"
#include "launch/boot/launched/gather.hpp"
#include "network/keyed_hash.hpp"

namespace heddle::boot {

using lln::Secret;

inline constexpr std::int64_t root_limit = 60'000;  // milliseconds until the agents of all nodes have come

// Fills the list of nodes, which has rank 0's own already, and who is where, and tells all of them. False, with the
// reason: some did not come, or their ranks cannot be a job; the caller tells them that.
bool gather_agents(const Descriptor& listener, const Secret& secret, int size, Gathered& gathered, std::string& why);

// Numbers the ranks node by node, of nodes that stand in the order of their first ranks: fills `first_ranks` and
// `order`. False: some are missing, or on two nodes.
bool number_ranks(int size, Gathered& gathered);

}  // namespace heddle::boot
