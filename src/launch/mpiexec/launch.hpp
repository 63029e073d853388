// From the plan of a job to its running ranks.
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

int total_ranks(const Options& options);

// Starts every rank under `supervisor`, or as many as can be started; then the supervisor ends them. `open_files` of a
// rank. `relay` of ranks that join the job of another launcher, or null.
void launch(const Options& options, const Placement& placement, const Segment& segment, const rlimit& open_files,
            const Relay* relay, Supervisor& supervisor);

// Ranks of one program that are processes.
class Starter {
 public:
  // `path` of the program; `world_size` of the ranks' MPI_COMM_WORLD.
  Starter(const App& app, std::string path, const EnvironmentPlan& environment, const Segment& segment, int world_size,
          const rlimit& open_files);
  Starter(const Starter&) = delete;
  Starter& operator=(const Starter&) = delete;

  // Under `supervisor`, on these cores (empty: ours). Empty, or the sentence that says why it could not be started; then
  // `exit_code` is that of a shell. May throw.
  std::string start(int rank, const std::vector<int>& cpus, Supervisor& supervisor, int& exit_code);

 private:
  const App& app_;
  const std::string path_;
  const Segment& segment_;
  const rlimit& open_files_;
  std::vector<std::string> words_, script_words_, environment_;
  bool plain_script_;
};

}  // namespace heddle::mpiexec
