// Neighborhood collectives (MPI 5.0, section 8.6): one message along each edge of the topology, all at once.
//
// Edges between the same two processes are told apart by their channel, and by order within it: the schedule's lanes.
#include "objects/object/topology.hpp"

#include "mpi/coll/check.hpp"
#include "mpi/coll/plans.hpp"

namespace heddle::coll::plan {

namespace {

// A process may be its own neighbor; such edges pair like all others and go through point-to-point too.
void exchange(Schedule& schedule, const Topology& topology, auto&& out, const Blocks& in) {
  const Team team = team_of(schedule);
  const auto lane_of = [](const Neighbor& n) { return n.channel % Schedule::lanes; };
  for (std::size_t i = 0; i < topology.sources.size(); ++i) {
    const Neighbor& source = topology.sources[i];
    if (source.rank != MPI_PROC_NULL) team.recv(in[static_cast<int>(i)], source.rank, lane_of(source));
  }
  for (std::size_t i = 0; i < topology.destinations.size(); ++i) {
    const Neighbor& dest = topology.destinations[i];
    if (dest.rank != MPI_PROC_NULL) team.send(out(static_cast<int>(i)), dest.rank, lane_of(dest));
  }
}

Error topology_of(const Schedule& schedule, const Topology*& topology) {
  topology = schedule.comm().topology.get();
  return topology ? success : fail(MPI_ERR_TOPOLOGY, "comm has no topology");
}

}  // namespace

Error NeighborAllgather::operator()(Schedule& schedule) const {
  const Topology* topology;
  if (Error e = topology_of(schedule, topology)) return e;
  if (Error e = check_neighbor_blocks("recvbuf", from_each, topology->sources.size())) return e;
  exchange(
      schedule, *topology, [&](int) { return mine; }, from_each);
  return success;
}

Error NeighborAlltoall::operator()(Schedule& schedule) const {
  const Topology* topology;
  if (Error e = topology_of(schedule, topology)) return e;
  if (Error e = check_neighbor_blocks("sendbuf", to_each, topology->destinations.size())) return e;
  if (Error e = check_neighbor_blocks("recvbuf", from_each, topology->sources.size())) return e;
  exchange(
      schedule, *topology, [&](int i) { return to_each[i]; }, from_each);
  return success;
}

}  // namespace heddle::coll::plan
