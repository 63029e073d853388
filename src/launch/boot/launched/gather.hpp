// How the ranks that a launcher has started find each other. The launcher carries one text, of rank 0 to all; what
// follows goes over sockets of the ranks' own.
//
// On each node the first process that takes the node's socket name is the node's *agent*; the others connect to it, and
// the kernel tells that they are of the same user. Between two fences all have come, so nobody waits for somebody who
// is not there. The agents tell rank 0, the *root*, which ranks are theirs, having proved that they know the job's
// secret; it answers with who is where.
//
// A node is thus a set of processes that reach each other's local sockets, whatever the launcher takes for one:
// containers with networks of their own are nodes of their own.
#pragma once

#include <string>
#include <vector>

#include "launch/boot/launched/connection.hpp"
#include "launch/boot/launched/sockets.hpp"
#include "launch/boot/problem.hpp"
#include "launch/boot/wireup.hpp"
#include "network/keyed_hash.hpp"

namespace heddle::boot {

struct LocalRank {
  int rank = 0;           // of the launcher's numbers until all are known
  int process = 0;        // of ranks that are threads the same
  int pid = 0;            // what the rank's program takes for its process
  std::vector<int> cpus;  // that it may run on
  Connection link;        // of the agent itself: closed
};

struct NodeLink {
  std::string host;
  int agent = 0;           // its rank
  std::vector<int> ranks;  // by number
  Connection link;         // of the root's own node: closed
};

struct Gathered {
  std::vector<int> first_ranks;  // of each node, and behind them the number of ranks
  // The launcher's ranks, node by node, which the job numbers in this order. Empty: in theirs. After gather() all other
  // numbers of ranks here are the job's.
  std::vector<int> order;
  int node = 0;        // of this rank; the root's is 0
  lln::Secret secret;  // of the job
  bool is_agent = false;

  Connection agent;               // not of the agent: its link to it
  std::vector<LocalRank> locals;  // of an agent: all of its node
  Connection root;                // of an agent on another node than the root's
  std::vector<NodeLink> nodes;    // of the root: all, by node

  bool is_root() const { return is_agent && node == 0; }
  int node_count() const { return static_cast<int>(first_ranks.size()) - 1; }
};

// Settings of the user for that.
struct Wishes {
  int nodes = 1;  // that the ranks pretend to be on (HEDDLE_NODES); 1: they are where they are
  Ports ports;    // that rank 0 may listen at
};

// Collective. False: there is no job, and `problem` says why, the same for all ranks where it can. Of a rank that is
// not an agent only the link to it is known, which the segment comes through.
bool gather(Wireup& wireup, const Wishes& wishes, Gathered& gathered, Problem& problem);

// The job's number for a rank of the launcher.
int number_of(int launcher_rank, const std::vector<int>& order);

// An agent that cannot go on tells all whom it knows.
void refuse_all(Gathered& gathered, const char* text);

}  // namespace heddle::boot
