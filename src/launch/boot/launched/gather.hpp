// The wire-up of the ranks that a launcher has started. The launcher carries one text, from rank 0 to all; the rest
// goes over sockets of the ranks' own.
//
// On each node the first process that takes the node's socket name is the node's *agent*; the others connect to it, and
// the kernel verifies that they are of the same user. Between two fences all have come, so no rank waits for an absent
// one. The agents prove to rank 0, the *root*, that they know the job's secret, and send it their ranks; it answers
// with the placement of all ranks.
//
// A node is thus a set of processes that reach each other's local sockets, independent of the launcher's notion of a
// node: containers with networks of their own are separate nodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/boot/launched/connection.hpp"
#include "launch/boot/launched/sockets.hpp"
#include "launch/boot/wireup.hpp"
#include "network/keyed_hash.hpp"

namespace heddle::boot {

struct LocalRank {
  int rank = 0;           // the launcher's number until all are known
  int process = 0;        // the same for ranks that are threads
  int pid = 0;            // the rank's process by its program's view
  std::vector<int> cpus;  // the CPUs that it may run on
  Connection link;        // closed in the agent's own entry
};

struct NodeLink {
  std::string host;
  int agent = 0;           // its rank
  std::vector<int> ranks;  // by number
  Connection link;         // closed for the root's own node
};

struct Gathered {
  std::vector<int> first_ranks;  // first ranks of the nodes, and behind them the number of ranks
  // The launcher's ranks, node by node, which the job numbers in this order. Empty: the order is unchanged. After
  // gather() all other numbers of ranks here are the job's.
  std::vector<int> order;
  int node = 0;        // the node of this rank; the root's is 0
  lln::Secret secret;  // of the job
  bool is_agent = false;

  Connection agent;               // of a rank that is no agent: its link to the agent
  std::vector<LocalRank> locals;  // in an agent: the ranks of its node
  Connection root;                // in an agent on another node than the root's
  std::vector<NodeLink> nodes;    // in the root: all, by node

  bool is_root() const { return is_agent && node == 0; }
  int node_count() const { return static_cast<int>(first_ranks.size()) - 1; }
};

// The user's settings for the wire-up.
struct Wishes {
  int nodes = 1;  // the number of simulated nodes (HEDDLE_NODES); 1: the ranks' real nodes
  Ports ports;    // the ports for rank 0's listener
};

// Collective. The reason of a failure is the same for all ranks where possible. A rank that is not an agent knows only its
// link to the agent, over which the segment comes.
Result<Gathered> gather(Wireup& wireup, const Wishes& wishes);

// The job's number for a rank of the launcher.
int number_of(int launcher_rank, const std::vector<int>& order);

// An agent that cannot go on tells all its peers.
void refuse_all(Gathered& gathered, std::string_view text);

}  // namespace heddle::boot
