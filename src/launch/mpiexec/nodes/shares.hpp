// The hosts of the ranks of a job that mpiexec itself starts on several nodes, and the commands that reach a host.
#pragma once

#include <string>
#include <vector>

#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {

struct Share {
  std::string host;
  int ranks;
};

// In blocks, in the order of the hosts, of which one may have none and is left out: as many as were asked for on each (-ppn), or as a host
// has slots; more ranks than slots are dealt out evenly. Throws UsageError.
std::vector<Share> shares_of(const App& app);

// The command that starts mpiexec with this option on the host: HEDDLE_REMOTE_SHELL, in an allocation of Slurm srun,
// else ssh. This machine needs none.
std::vector<std::string> words_to_start(const std::string& host, const std::string& option);

}  // namespace heddle::mpiexec
