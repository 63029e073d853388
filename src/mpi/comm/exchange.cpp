#include "mpi/comm/exchange.hpp"

#include <numeric>

#include "messaging/p2p/p2p.hpp"
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/schedule.hpp"
#include "objects/object/group.hpp"

namespace heddle {

Error exchange_bytes(Comm& parent, const void* mine, void* ours, void* theirs, std::size_t each) {
  return coll::run(parent, [&](coll::Schedule& schedule) {
    const coll::Team local = parent.inter ? coll::local_team_of(schedule) : coll::team_of(schedule);
    const coll::BufferView own = coll::raw(mine, each);
    const coll::Blocks blocks = coll::Blocks::regular(ours, own.count, own.type);
    local.copy(own, blocks[local.rank]);
    coll::allgather(local, coll::none, blocks);
    if (!parent.inter) return success;

    const coll::BufferView remote_table = coll::raw(theirs, each * static_cast<std::size_t>(parent.remote_size));
    if (local.rank == 0) {
      const coll::Team remote = coll::team_of(schedule);
      local.fence();
      remote.recv(remote_table, 0);
      remote.send(blocks.run(0, local.size), 0);
    }
    local.fence();
    coll::bcast(local, remote_table, 0);
    return success;
  });
}

Error gather_bytes(Comm& comm, const void* mine, std::size_t bytes, std::vector<std::byte>& all) {
  std::vector<MPI_Count> lengths, none;
  if (Error e = exchange(comm, static_cast<MPI_Count>(bytes), lengths, none)) return e;
  std::vector<MPI_Count> places(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), MPI_Count{0});
  all.resize(static_cast<std::size_t>(places.back() + lengths.back()));
  return coll::run(comm, [&](coll::Schedule& schedule) {
    const coll::Team team = coll::team_of(schedule);
    const coll::BufferView own = coll::raw(mine, bytes);
    const Counts counts(lengths.data());
    const Counts displacements(places.data());
    const coll::Blocks blocks = coll::Blocks::vector(all.data(), counts, displacements, own.type);
    team.copy(own, blocks[team.rank]);
    coll::allgather(team, coll::none, blocks);
    return success;
  });
}

Error announce_in_group(Comm& comm, const Group& group, int tag, void* data, std::size_t bytes) {
  const Datatype& byte = *predefined_datatype(MPI_BYTE);
  const RankFinder find(*comm.local_group);
  const auto peer = [&](int group_rank) { return find(group.world_rank(group_rank)); };
  const auto count = static_cast<MPI_Count>(bytes);
  // A binomial tree: the parent differs in the lowest set bit, the children in the zeros below it.
  int bit = 1;
  while (bit < group.size && !(group.rank & bit)) bit *= 2;
  if (group.rank != 0) {
    if (Error e = p2p::recv(comm, Plane::collective, data, count, byte, peer(group.rank - bit), tag)) return e;
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (group.rank + bit >= group.size) continue;
    if (Error e = p2p::send(comm, Plane::collective, data, count, byte, peer(group.rank + bit), tag)) return e;
  }
  return success;
}

Error swap_bytes(Comm& comm, int peer, int tag, const void* out, std::size_t out_bytes, void* in,
                 std::size_t in_bytes) {
  const Datatype& byte = *predefined_datatype(MPI_BYTE);
  Request* const requests[] = {
      &p2p::irecv(comm, Plane::collective, in, static_cast<MPI_Count>(in_bytes), byte, peer, tag),
      &p2p::isend(comm, Plane::collective, out, static_cast<MPI_Count>(out_bytes), byte, peer, tag)};
  const Error error = p2p::wait_all(requests, 2);
  for (Request* request : requests) p2p::give_back(*request);
  return error;
}

bool leads(const Group& group, const Group& other) { return group.world_rank(0) < other.world_rank(0); }

}  // namespace heddle
