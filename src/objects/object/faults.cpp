#include "objects/object/faults.hpp"

#include "launch/rank/rank.hpp"

namespace heddle {

Error describe_fault(int error_class) {
  switch (error_class) {
    case MPIX_ERR_REVOKED:
      return fail(MPIX_ERR_REVOKED,
                  "the communicator was revoked. MPIX_Comm_shrink makes one of the surviving processes");
    case MPIX_ERR_PROC_FAILED_PENDING:
      return fail(
          MPIX_ERR_PROC_FAILED_PENDING,
          "a process that might have sent the message has failed; the receive goes on once the failure is acknowledged "
          "(MPIX_Comm_ack_failed)");
    default:
      return fail(MPIX_ERR_PROC_FAILED,
                  "a process that the operation needs has failed. MPIX_Comm_get_failed lists the failed ones");
  }
}

Error fault_of_used(const Comm& comm, int source) {
  const CommFaults* const faults = comm.faults.load(std::memory_order_acquire);
  if (faults->is_revoked()) return describe_fault(MPIX_ERR_REVOKED);
  if (source == MPI_ANY_SOURCE) return faults->is_pending() ? describe_fault(MPIX_ERR_PROC_FAILED_PENDING) : success;
  return comm.owner->faults->is_gone(comm.world_rank(source)) ? describe_fault(MPIX_ERR_PROC_FAILED) : success;
}

Error fault_of_used(const Comm& comm) {
  const CommFaults* const faults = comm.faults.load(std::memory_order_acquire);
  if (!faults->is_broken()) return success;
  return describe_fault(faults->is_revoked() ? MPIX_ERR_REVOKED : MPIX_ERR_PROC_FAILED);
}

Error check_survivable(const Rank& rank, const char* what) {
  if (!rank.faults) return success;
  return fail(MPI_ERR_UNSUPPORTED_OPERATION,
              "%s is not supported in a job that survives failed processes (mpiexec -with-ft, HEDDLE_FAULT_TOLERANCE). "
              "Start it "
              "without",
              what);
}

}  // namespace heddle
