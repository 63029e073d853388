// Reports failed ranks to the others, in a job that survives them: appends to the job's log of failures and wakes all
// blocked threads. And decides for communicators between nodes (launch/boot/decisions.hpp), which must be done by the process
// that reports failures.
//
// All ranks rely on the log (launch/boot/job.hpp): a rank in it is gone for good. So a rank is reported only when its process,
// which may have been the child of a script that we have started, is no more.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "launch/boot/decisions.hpp"
#include "launch/boot/news.hpp"
#include "launch/mpiexec/listener.hpp"
#include "launch/mpiexec/nodes/coordinator_link.hpp"
#include "launch/mpiexec/segment.hpp"

namespace heddle::mpiexec {

class Failures final : public Answerer {
 public:
  // For a job, before its ranks start; or for a node that is served for a coordinator, which decides then. Throws
  // std::system_error.
  Failures(const Segment& segment, CoordinatorLink* coordinator);
  Failures(const Failures&) = delete;
  Failures& operator=(const Failures&) = delete;

  // The number of the job's ranks reported as failed.
  int told() const;
  // The rank has ended, or one whose process is the same; that process, which we have started, has been reaped or not.
  // The rest of it is killed, and the others get the report when nothing is left.
  void lost(int rank, pid_t started, bool reaped);
  // Reports ranks that are gone by now; true if some are left that are not.
  bool tell();

  // Takes a proposal of a rank.
  std::string answer(const std::string& request) override;

 private:
  struct Dying {
    int rank;
    pid_t process;  // that has joined the job
  };

  const Segment segment_;
  CoordinatorLink* const coordinator_;
  boot::News news_;
  boot::Decisions decisions_;  // without a coordinator
  std::vector<Dying> dying_;
};

}  // namespace heddle::mpiexec
