// Verdicts on incomplete operations after processes have failed or communicators were revoked. ft/ decides, and each VNI applies the
// verdicts to its operations (failures.cpp).
//
// Verdicts describe one moment. A process that fails while a VNI applies them has not failed by these verdicts: messages in queues to a
// peer that is not closed must not end as if it had.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace heddle::message {

class Verdicts {
 public:
  // Ranks of the job that have failed, in ascending order. No message comes from them except those that have arrived already.
  virtual std::span<const int> gone() const = 0;
  bool is_gone(int world_rank) const { return std::ranges::binary_search(gone(), world_rank); }
  // The error class that ends a posted receive, or a send that its receiver has not taken; MPI_SUCCESS: the operation continues. With
  // MPIX_ERR_PROC_FAILED_PENDING the receive stays posted, and the thread that waits for it gets the report.
  virtual int of_receive(std::uint64_t context, int source) const = 0;
  virtual int of_send(std::uint64_t context, int peer) const = 0;

 protected:
  ~Verdicts() = default;
};

}  // namespace heddle::message
