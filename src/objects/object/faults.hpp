// A rank's view of failures, in a job that survives them: the interface for the folders below ft/. A rank of any other
// job has none; it tests a null pointer where a communicator sends its first message or a call has failed to find
// something.
#pragma once

#include <mpi-ext.h>

#include <atomic>
#include <cstdint>

#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"

namespace heddle {

// The failures of a communicator that has been used; lives at least as long.
struct CommFaults {
  std::atomic<bool> revoked{false};
  std::atomic<std::uint32_t> failed{0};        // members known to have failed
  std::atomic<std::uint32_t> acknowledged{0};  // the number of them that are acknowledged

  bool is_revoked() const { return revoked.load(std::memory_order_seq_cst); }
  bool is_broken() const { return is_revoked() || failed.load(std::memory_order_acquire) != 0; }
  // A receive from any source might wait for one of them.
  bool is_pending() const {
    return failed.load(std::memory_order_acquire) > acknowledged.load(std::memory_order_acquire);
  }
};

class Faults {
 public:
  virtual ~Faults() = default;

  // The communicator is used: its context is known. Any thread, any number of times.
  virtual void add(Comm& comm) = 0;
  // The communicator is freed, used or not.
  virtual void leave(Comm& comm) = 0;
  // True if this rank of the job has failed.
  virtual bool is_gone(int world_rank) const = 0;
};

// True for the error of an operation that cannot complete because a process has failed, or the communicator was
// revoked: no further part of it is to be begun.
constexpr bool is_fault(int error_class) {
  return error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_PROC_FAILED_PENDING ||
         error_class == MPIX_ERR_REVOKED;
}

// The reason why a message from this source of the communicator may never come, with its sentence; success: it may
// come.
Error fault_of_used(const Comm& comm, int source);
inline Error fault_of(const Comm& comm, int source) {
  return comm.faults.load(std::memory_order_acquire) == nullptr ? success : fault_of_used(comm, source);
}
// The reason why a collective operation of the communicator is impossible; success: it is possible.
Error fault_of_used(const Comm& comm);
inline Error fault_of_collective(const Comm& comm) {
  return comm.faults.load(std::memory_order_acquire) == nullptr ? success : fault_of_used(comm);
}
// An error of this class with its sentence.
Error describe_fault(int error_class);
// For functions that are not supported yet in a job with failures: an error of class MPI_ERR_UNSUPPORTED_OPERATION;
// else success.
Error check_survivable(const Rank& rank, const char* what);

}  // namespace heddle
