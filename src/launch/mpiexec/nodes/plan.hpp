// What the coordinator of a job on several nodes tells the mpiexec that it has started on one of them: where it is itself, on the standard
// input of that mpiexec, since a command line is for everybody to see; and over their connection what the job is.
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
  int node = 0;        // that is to be served
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

// A variable that tells of a machine, of a login there or of a task: a node keeps its own.
bool belongs_to_machine(const std::string& variable);

}  // namespace heddle::mpiexec
