// The coordinator's messages to the mpiexec that it has started on a node: its own address, on the standard input of
// that mpiexec, since every user can read a command line; and over their connection the description of the job.
#pragma once

#include <string>
#include <vector>

#include "launch/mpiexec/segment.hpp"
#include "network/keyed_hash.hpp"

namespace heddle::mpiexec {

// That mpiexec's only argument.
inline constexpr char serve_option[] = "-serve-node";

struct Summons {
  std::vector<std::string> addresses;
  int port = 0;
  lln::Secret secret;  // of the job
  int node = 0;        // the node to serve
};
// One line, with its end.
std::string line_of(const Summons& summons);
// Reads it from this descriptor, and nothing behind it. Throws std::runtime_error.
Summons read_summons(int fd);

struct NodePlan {
  std::string host;  // of the coordinator
  std::vector<int> first_ranks;
  std::uint64_t key = 0;
  std::string directory;
  std::vector<std::string> arguments;    // of mpiexec
  std::vector<std::string> environment;  // that it was called in
};
std::string text_of_plan(const NodePlan& plan);
NodePlan node_plan_of(const std::string& text);  // throws std::runtime_error

// True for a variable that describes a machine, a login there or a task: a node keeps its own.
bool belongs_to_machine(const std::string& variable);

}  // namespace heddle::mpiexec
