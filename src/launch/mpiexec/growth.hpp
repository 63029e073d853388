// Starts ranks that a rank of the running job has requested (MPI_Comm_spawn): they get the next numbers of the job and
// an MPI_COMM_WORLD of their own. All ranks of a request start, or none does.
#pragma once

#include <sys/resource.h>

#include <string>
#include <vector>

#include "launch/boot/spawn_request.hpp"
#include "launch/mpiexec/listener.hpp"
#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/segment.hpp"
#include "launch/mpiexec/supervisor.hpp"

namespace heddle::mpiexec {

class Growth final : public Answerer {
 public:
  Growth(const Options& options, const Segment& segment, const rlimit& open_files, Supervisor& supervisor)
      : options_(options), segment_(segment), open_files_(open_files), supervisor_(supervisor) {}

  // A boot::SpawnAnswer to a boot::SpawnRequest.
  std::string answer(const std::string& request) override;

 private:
  struct Program {
    App app;
    std::string path;
  };

  void grow(const boot::SpawnRequest& request, boot::SpawnAnswer& answer);
  Program prepare(const boot::SpawnProgram& wanted, int ranks) const;
  void describe(const boot::SpawnRequest& request, const std::vector<Program>& programs, int first, int size);

  const Options& options_;
  const Segment& segment_;
  const rlimit& open_files_;
  Supervisor& supervisor_;
  int groups_ = 0;  // spawned so far
};

}  // namespace heddle::mpiexec
