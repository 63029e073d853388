#include "mpi/coll/check.hpp"
#include "mpi/coll/inter.hpp"
#include "mpi/coll/leaders.hpp"
#include "mpi/coll/plans.hpp"

namespace heddle::coll::plan {

Error Barrier::operator()(Schedule& schedule) const {
  if (schedule.comm().inter) {
    inter::barrier(schedule);
  } else if (const Nodes* nodes = nodes_of(schedule.comm())) {
    by_leaders::barrier(schedule, *nodes);
  } else {
    barrier(team_of(schedule));
  }
  return success;
}

Error Bcast::operator()(Schedule& schedule) const {
  const BufferView message = piece(buffer, count, type);
  if (schedule.comm().inter) {
    inter::bcast(schedule, message, root);
  } else if (const Nodes* nodes = nodes_of(schedule.comm())) {
    by_leaders::bcast(schedule, *nodes, message, root);
  } else {
    bcast(team_of(schedule), message, root);
  }
  return success;
}

Error Gather::operator()(Schedule& schedule) const {
  const Comm& comm = schedule.comm();
  const bool receives = comm.inter ? root == MPI_ROOT : root == comm.rank;
  const bool sends = comm.inter ? root >= 0 : !(receives && is_in_place(sendbuf));
  const BufferView mine = sends ? piece(sendbuf, sendcount, *sendtype) : none;
  if (comm.inter) {
    inter::gather(schedule, mine, all, root);
    return success;
  }
  if (sends && receives) {
    if (Error e = check_copy(mine, all[root])) {
      schedule.refuse(e);
      gather(team_of(schedule), none, all, root);
      return success;
    }
  }
  gather(team_of(schedule), mine, all, root);
  return success;
}

Error Scatter::operator()(Schedule& schedule) const {
  const Comm& comm = schedule.comm();
  const bool sends = comm.inter ? root == MPI_ROOT : root == comm.rank;
  const bool receives = comm.inter ? root >= 0 : !(sends && is_in_place(recvbuf));
  const BufferView mine = receives ? piece(recvbuf, recvcount, *recvtype) : none;
  if (comm.inter) {
    inter::scatter(schedule, all, mine, root);
    return success;
  }
  if (sends && receives) {
    if (Error e = check_copy(all[root], mine)) {
      schedule.refuse(e);
      scatter(team_of(schedule), all, none, root);
      return success;
    }
  }
  scatter(team_of(schedule), all, mine, root);
  return success;
}

Error Allgather::operator()(Schedule& schedule) const {
  const Comm& comm = schedule.comm();
  const bool in_place = !comm.inter && is_in_place(sendbuf);
  const BufferView mine = in_place ? none : piece(sendbuf, sendcount, *sendtype);
  if (comm.inter) {
    inter::allgather(schedule, mine, all);
    return success;
  }
  const Team team = team_of(schedule);
  const Error e = in_place ? success : check_copy(mine, all[team.rank]);
  if (e) schedule.refuse(e);
  const bool is_there = in_place || e.code() == MPI_ERR_BUFFER;
  if (const Nodes* nodes = all.is_regular() ? nodes_of(schedule.comm()) : nullptr) {
    if (!is_there) team.copy(mine, all[team.rank]);
    by_leaders::allgather(schedule, *nodes, all);
  } else {
    allgather(team, is_there ? none : mine, all);
  }
  return success;
}

Error Alltoall::operator()(Schedule& schedule) const {
  const Comm& comm = schedule.comm();
  if (comm.inter) {
    if (is_in_place(from.base) && !from.are_empty(static_cast<std::size_t>(comm.remote_size)))
      return fail(MPI_ERR_BUFFER, "sendbuf is MPI_IN_PLACE, which is invalid for an intercommunicator");
    inter::alltoall(schedule, from, to);
    return success;
  }
  if (is_in_place(from.base)) {
    alltoall_in_place(team_of(schedule), to);
    return success;
  }
  const Team team = team_of(schedule);
  if (Error e = check_copy(from[team.rank], to[team.rank])) {
    if (from.is_regular()) return e;
    schedule.refuse(e);
    alltoall_of_copies(team, from, to);
    return success;
  }
  alltoall(team, from, to);
  return success;
}

}  // namespace heddle::coll::plan
