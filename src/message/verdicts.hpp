// What is to become of operations under way when processes have failed or communicators were revoked: ft/ knows, and each VNI goes
// through what it has (failures.cpp).
#pragma once

#include <cstdint>
#include <span>

namespace heddle::message {

class Verdicts {
 public:
  // Ranks of the job that have failed; nothing more comes from them than what is there.
  virtual std::span<const int> gone() const = 0;
  virtual bool is_gone(int world_rank) const = 0;
  // The error class that a posted receive, or a send that its receiver has not taken, ends with; MPI_SUCCESS: it goes on. A receive that
  // MPIX_ERR_PROC_FAILED_PENDING is said of stays posted, and who waits for it is told.
  virtual int of_receive(std::uint64_t context, int source) const = 0;
  virtual int of_send(std::uint64_t context, int peer) const = 0;

 protected:
  ~Verdicts() = default;
};

}  // namespace heddle::message
