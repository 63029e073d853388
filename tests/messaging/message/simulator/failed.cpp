#include <mpi-ext.h>
#include <mpi.h>

#include "messaging/message/simulator/job.hpp"

namespace heddle::message::simulator {

// A source is a rank of a communicator of all: its number is that of the job.
int Failed::of_receive(std::uint64_t, int source) const {
  if (source == MPI_ANY_SOURCE) return gone_.empty() ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED_PENDING;
  return is_gone(source) ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
}
int Failed::of_send(std::uint64_t, int peer) const { return is_gone(peer) ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS; }

int Revoked::of_receive(std::uint64_t, int) const { return MPIX_ERR_REVOKED; }
int Revoked::of_send(std::uint64_t, int) const { return MPIX_ERR_REVOKED; }

}  // namespace heddle::message::simulator
