// One agreement of the members of a communicator, from the view of one of them.
//
// Members on one node agree by the memory that they share (node_agreement.cpp), others by one process of the job, which
// receives all proposals and reports failures (job_agreement.cpp). Either way the result is a function of the
// contributions, and of the order of failures, which is the same for all: no member decides for the others, and no
// death of a member has to be repaired.
#pragma once

#include <memory>
#include <vector>

#include "mpi/ft/of_rank.hpp"

namespace heddle::ft {

class Agreement {
 public:
  using Operation = boot::Contribution::Operation;
  struct Outcome {
    int error = MPI_SUCCESS;
    int flag = 0;                // of an agree: combined from all contributions
    std::vector<int> survivors;  // of a shrink: world ranks, in the order of the communicator
    Context context = 0;         // for them
  };

  virtual ~Agreement() = default;
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  // Goes as far as possible without waiting; true if the result is there. Blocked members are woken.
  virtual bool advance() = 0;
  // Then.
  virtual Outcome decide() const = 0;
  // And once, by its destructor at the latest: this member needs nothing more of the others.
  virtual void conclude() = 0;

  Rank& rank() const { return *comm_.owner; }
  Comm& comm() const { return comm_; }

 protected:
  // The next one of the communicator.
  Agreement(OfRank& faults, Comm& comm, Operation operation, int flag);

  OfRank& faults_;
  Comm& comm_;
  Record& record_;
  const Operation operation_;
  const int flag_;
  const Context context_;  // for the communicator that a shrink makes, if this member is its first
  const std::uint32_t number_;
  bool contributed_ = false;
  bool concluded_ = false;
};

// Throws std::bad_alloc where the job's segment has no memory for it.
std::unique_ptr<Agreement> make_agreement(OfRank& faults, Comm& comm, Agreement::Operation operation, int flag);
std::unique_ptr<Agreement> make_node_agreement(OfRank& faults, Comm& comm, Agreement::Operation operation, int flag);
std::unique_ptr<Agreement> make_job_agreement(OfRank& faults, Comm& comm, Agreement::Operation operation, int flag);

}  // namespace heddle::ft
