// MPIX_Comm_revoke and _is_revoked; known failures, and their acknowledgment.
#include "mpi/ft/of_rank.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

namespace {

MPI_Group group_of(const Rank& rank, std::vector<int> world_ranks) {
  return world_ranks.empty() ? MPI_GROUP_EMPTY : handle_of<MPI_Group>(*make_group(rank, std::move(world_ranks)));
}

}  // namespace

Error MPIX_Comm_revoke(Comm& comm) {
  ft::OfRank* faults = nullptr;
  if (Error e = ft::find(comm, faults)) return e;
  return faults->revoke(comm);
}

Error MPIX_Comm_is_revoked(Comm& comm, int* flag) {
  ft::OfRank* faults = nullptr;
  if (Error e = ft::find(comm, faults)) return e;
  *flag = faults->is_revoked(comm);
  return success;
}

Error MPIX_Comm_get_failed(Comm& comm, MPI_Group* failedgrp) {
  ft::OfRank* faults = nullptr;
  if (Error e = ft::find(comm, faults)) return e;
  *failedgrp = group_of(*comm.owner, faults->failed(comm));
  return success;
}

Error MPIX_Comm_ack_failed(Comm& comm, int num_to_ack, int* num_acked) {
  ft::OfRank* faults = nullptr;
  if (Error e = ft::find(comm, faults)) return e;
  *num_acked = static_cast<int>(faults->acknowledge(comm, static_cast<std::uint32_t>(num_to_ack)));
  return success;
}

Error MPIX_Comm_failure_ack(Comm& comm) {
  ft::OfRank* faults = nullptr;
  if (Error e = ft::find(comm, faults)) return e;
  (void)faults->acknowledge(comm, ft::OfRank::all);
  return success;
}

Error MPIX_Comm_failure_get_acked(Comm& comm, MPI_Group* failedgrp) {
  ft::OfRank* faults = nullptr;
  if (Error e = ft::find(comm, faults)) return e;
  std::vector<int> failed = faults->failed(comm);
  failed.resize(faults->acknowledge(comm, 0));
  *failedgrp = group_of(*comm.owner, std::move(failed));
  return success;
}

}  // namespace heddle::mpi
