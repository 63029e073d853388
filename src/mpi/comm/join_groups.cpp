#include "mpi/comm/join_groups.hpp"

#include <utility>

#include "mpi/coll/internal.hpp"
#include "mpi/comm/make_comm.hpp"
#include "objects/object/context.hpp"

namespace heddle {

namespace {

// The leader sends its group the result, or its failure, so that no member waits for ever.
Error spread(Comm& local_comm, int leader, Remote& remote) {
  struct {
    int error;
    int size;
    Context offered;
    Context local;
  } fixed{remote.error, remote.size, remote.offered, remote.local};
  if (Error e = coll::bcast_bytes(local_comm, &fixed, sizeof fixed, leader)) return e;
  remote.error = fixed.error;
  remote.size = fixed.size;
  remote.offered = fixed.offered;
  remote.local = fixed.local;
  if (remote.error != MPI_SUCCESS) return success;
  remote.world_ranks.resize(static_cast<std::size_t>(remote.size));
  return coll::bcast_bytes(local_comm, remote.world_ranks.data(), remote.world_ranks.size() * sizeof(int), leader);
}

}  // namespace

std::vector<int> world_ranks_of(const Group& group) {
  std::vector<int> ranks(static_cast<std::size_t>(group.size));
  for (int r = 0; r < group.size; ++r) ranks[static_cast<std::size_t>(r)] = group.world_rank(r);
  return ranks;
}

Error join_groups(Comm& local_comm, int leader, Errhandler* errhandler, int asked_model,
                  lln::FunctionRef<Error(const Group& local, Context offered, Remote& remote)> exchange,
                  Comm*& intercomm) {
  Rank& rank = *local_comm.owner;
  const Group& local = *local_comm.local_group;
  Remote remote;
  Error at_leader;
  if (local_comm.rank == leader) {
    const Context offered = fresh_context(rank, asked_model);
    at_leader = exchange(local, offered, remote);
    remote.error = at_leader.code();
    remote.local = fresh_context(rank);
    if (!at_leader && local.world_rank(0) < remote.world_ranks[0]) remote.offered = offered;
  }
  if (Error e = spread(local_comm, leader, remote)) return e;
  if (at_leader) return at_leader;
  if (remote.error != MPI_SUCCESS)
    return fail(remote.error, "the local leader, rank %d, could not exchange data with the remote group", leader);

  const RankFinder find(local);
  for (const int world_rank : remote.world_ranks) {
    if (find(world_rank) != MPI_UNDEFINED)
      return fail(MPI_ERR_COMM, "process %d of the job is in both groups", world_rank);
  }
  CommParts parts{.context = remote.offered,
                  .local_group = copy_of(local),
                  .remote_group = make_group(rank, std::move(remote.world_ranks)),
                  .local_comm = make_child(local_comm, {.context = remote.local, .local_group = copy_of(local)}),
                  .errhandler = errhandler};
  intercomm = errhandler ? make_comm(rank, parts) : make_child(local_comm, parts);
  return success;
}

}  // namespace heddle
