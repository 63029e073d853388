// What a rank keeps of failures, in a job that goes on without ranks that fail: the face that the folders below ft/ see. A rank of any
// other job has none, and pays with a look at a null pointer where a communicator sends its first message or a call has failed to
// find something.
#pragma once

#include <mpi-ext.h>

#include <atomic>
#include <cstdint>

#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"

namespace heddle {

// Of a communicator that has been used; lives at least as long.
struct CommFaults {
  std::atomic<bool> revoked{false};
  std::atomic<std::uint32_t> failed{0};        // members that have failed, as far as this rank has noticed
  std::atomic<std::uint32_t> acknowledged{0};  // of them

  bool is_revoked() const { return revoked.load(std::memory_order_seq_cst); }
  bool is_broken() const { return is_revoked() || failed.load(std::memory_order_acquire) != 0; }
  // A receive from anybody might wait for one of them.
  bool is_pending() const {
    return failed.load(std::memory_order_acquire) > acknowledged.load(std::memory_order_acquire);
  }
};

class Faults {
 public:
  virtual ~Faults() = default;

  // The communicator is used: its context is known. Any thread, as often as it likes.
  virtual void meet(Comm& comm) = 0;
  // It is gone, whether it was used or not.
  virtual void leave(Comm& comm) = 0;
  // Whether this rank of the job has failed.
  virtual bool is_gone(int world_rank) const = 0;
};

// The error of what cannot come to an end because a process has failed, or the communicator was revoked: nothing more of the operation
// is to be begun.
constexpr bool is_fault(int error_class) {
  return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_PROC_FAILED_PENDING ||
         error_class == MPIX_ERR_REVOKED;
}

// Why a message from this source of the communicator need not come, with its sentence; success: it may.
Error fault_of_used(const Comm& comm, int source);
inline Error fault_of(const Comm& comm, int source) {
  return comm.faults.load(std::memory_order_acquire) == nullptr ? success : fault_of_used(comm, source);
}
// Why a collective operation of the communicator cannot be; success: it can.
Error fault_of_used(const Comm& comm);
inline Error fault_of_collective(const Comm& comm) {
  return comm.faults.load(std::memory_order_acquire) == nullptr ? success : fault_of_used(comm);
}
// An error of this class with its sentence.
Error describe_fault(int error_class);
// What a job with failures does not support yet: an error of class MPI_ERR_UNSUPPORTED_OPERATION; else success.
Error check_survivable(const Rank& rank, const char* what);

}  // namespace heddle
