// Tells the ranks of a job that goes on which of them have failed: appends to the job's log of failures and wakes everybody who sleeps.
//
// The log is what all ranks rely on (boot/job.hpp): what stands there is gone for good. So a rank is told of only when its process,
// which may have been the child of a script that we have started, is no more.
#pragma once

#include <sys/types.h>

#include <vector>

#include "mpiexec/segment.hpp"
#include "node/node.hpp"

namespace heddle::mpiexec {

class Failures {
 public:
  // Of a job on one node, before its ranks start. Throws std::system_error.
  explicit Failures(const Segment& segment);

  // The process that we have started for this rank has ended: what is left of the rank is killed, and the others are told when nothing is.
  void lost(int rank, pid_t started);
  // Tells of those that are gone by now; whether some are left that are not.
  bool tell();

 private:
  struct Dying {
    int rank;
    pid_t process;  // that has joined the job
  };
  void append(int rank);

  const Segment segment_;
  node::Bell* bells_ = nullptr;  // by rank
  std::vector<Dying> dying_;
};

}  // namespace heddle::mpiexec
