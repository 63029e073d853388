// What is to become of operations under way when processes have failed or communicators were revoked: ft/ knows, and each VNI goes
// through what it has (failures.cpp).
//
// They are of one moment. A process that fails while a VNI goes through its operations has not failed for these verdicts: what is still in
// queues to a peer that is not closed must not be ended as if it were.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace heddle::message {

class Verdicts {
 public:
  // Ranks of the job that have failed, ascending; nothing more comes from them than what is there.
  virtual std::span<const int> gone() const = 0;
  bool is_gone(int world_rank) const { return std::ranges::binary_search(gone(), world_rank); }
  // The error class that a posted receive, or a send that its receiver has not taken, ends with; MPI_SUCCESS: it goes on. A receive that
  // MPIX_ERR_PROC_FAILED_PENDING is said of stays posted, and who waits for it is told.
  virtual int of_receive(std::uint64_t context, int source) const = 0;
  virtual int of_send(std::uint64_t context, int peer) const = 0;

 protected:
  ~Verdicts() = default;
};

}  // namespace heddle::message
