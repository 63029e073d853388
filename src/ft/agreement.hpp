// One agreement of the members of a communicator, as one of them takes part in it (sync/agreement.hpp).
//
// What comes out is a function of what was contributed and by whom, and of the order of failures, which is the same for all: so no
// member decides anything for the others, and there is nobody whose death would have to be made good.
#pragma once

#include <cstdint>
#include <vector>

#include "ft/of_rank.hpp"

namespace heddle::ft {

class Agreement {
 public:
  struct Outcome {
    int error = MPI_SUCCESS;
    int flag = 0;                // of an agree: of all that have contributed
    std::vector<int> survivors;  // of a shrink: world ranks, in the order of the communicator
    Context context = 0;         // for them
  };

  // Throws std::bad_alloc where the job's segment has no memory for it.
  Agreement(OfRank& faults, Comm& comm, Contribution::Operation operation, int flag);

  // Concludes it, if that has not been done.
  ~Agreement();
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  // Goes as far as it can without waiting; whether the outcome is there. Members that sleep are woken.
  bool advance();
  // Then.
  Outcome decide() const;
  // And once: this member has what it needs of the others.
  void conclude();

  Rank& rank() const { return *comm_.owner; }
  Comm& comm() const { return comm_; }

 private:
  struct Slots {
    SharedComm* shared;
    std::uint32_t size() const { return shared->members; }
    auto& operator[](std::uint32_t m) const { return shared->member(m).agreements; }
  };
  bool is_gone(std::uint32_t m) const { return faults_.is_gone(record_.group.world_rank(static_cast<int>(m))); }

  OfRank& faults_;
  Comm& comm_;
  Record& record_;
  sync::Agreement<platform::Native, Slots> agreement_;
  Contribution mine_;
  const std::uint32_t me_;
  const std::uint32_t number_;
  bool contributed_ = false;
  bool concluded_ = false;
};

}  // namespace heddle::ft
