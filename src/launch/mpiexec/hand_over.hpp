// Jobs on several machines: mpiexec starts ranks on its own, and leaves others to a launcher that reaches them: srun in an allocation of
// Slurm, else prterun (PRRTE, Open MPI), else mpiexec.hydra (MPICH, Intel MPI).
#pragma once

#include <string>
#include <vector>

#include "launch/mpiexec/hosts.hpp"
#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {

// True if a foreign launcher is to start ranks on these hosts: one is another machine, or none is named and a batch
// system has given us several.
bool leads_elsewhere(const std::vector<Host>& hosts);
bool leads_elsewhere(const Options& options);

// The number of these machines, as far as that is known; at least 1.
int machines(const std::vector<Host>& hosts);
// The hosts that a batch system without a launcher of its own has given us, if the user has named none.
std::vector<Host> allocated_hosts();

struct Command {
  std::string launcher;                  // what it is called
  std::vector<std::string> words;        // the first is looked up in PATH
  std::vector<std::string> environment;  // NAME=VALUE
};

// The same job for that launcher. Throws UsageError: there is none, or it has no equivalent of one of the options.
Command hand_over(const Options& options);

// Executes it, after a line that says so. Returns only for -do-not-launch.
void become(Command command, const Options& options);

}  // namespace heddle::mpiexec
