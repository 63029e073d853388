// Tells the ranks of a job that goes on without ranks that fail which of them have failed: appends to the job's log of failures and wakes
// everybody who sleeps. And decides for communicators between nodes (launch/boot/decisions.hpp), as whoever tells of failures must.
//
// The log is what all ranks rely on (launch/boot/job.hpp): what stands there is gone for good. So a rank is told of only when its process,
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
  // Of a job, before its ranks start; of a node that is served for a coordinator, which decides then. Throws std::system_error.
  Failures(const Segment& segment, CoordinatorLink* coordinator);
  Failures(const Failures&) = delete;
  Failures& operator=(const Failures&) = delete;

  // How many of the job's ranks have failed, as far as that has been told.
  int told() const;
  // The rank has ended, or one whose process is the same; that process, which we have started, has been reaped or not. What is left of it is
  // killed, and the others are told when nothing is.
  void lost(int rank, pid_t started, bool reaped);
  // Tells of those that are gone by now; whether some are left that are not.
  bool tell();

  // A rank proposes something.
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
