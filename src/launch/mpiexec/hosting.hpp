// Starts ranks that are threads: a host process for every few of them (launch/host/host.hpp), with a plan for them.
#pragma once

#include <sys/resource.h>

#include <string>
#include <vector>

#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/placement.hpp"
#include "launch/mpiexec/relay.hpp"
#include "launch/mpiexec/segment.hpp"
#include "launch/mpiexec/supervisor.hpp"

namespace heddle::mpiexec {

struct HostedApp {
  const Options& options;
  const App& app;
  std::string path;                      // of the program
  std::vector<std::string> environment;  // of its ranks, but for their numbers
  int first_rank;
  const Relay* relay;  // by which they join the job of another launcher; null: mpiexec's own
};

// Throws UsageError if this program can't run as threads, and ProgramError if the host is not installed.
void require_hostable(const std::string& path);

// Starts the app's ranks under `supervisor`. False: a host could not be started, and the supervisor ends the job.
bool launch_hosts(const HostedApp& hosted, const Placement& placement, const Segment& segment, const rlimit& open_files,
                  Supervisor& supervisor);

}  // namespace heddle::mpiexec
