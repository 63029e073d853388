#include "coll/check.hpp"
#include "coll/inter.hpp"
#include "coll/plans.hpp"
#include "op/op.hpp"

namespace heddle::coll::plan {

namespace {

// The operand and the result of a reduction whose result everyone gets.
struct Operands {
  Piece mine;
  Piece result;
};

Error operands(Schedule& schedule, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Count result_count,
               const Datatype& type, const Op& op, Operands& out) {
  if (Error e = check_reducible(op, type)) return e;
  schedule.set_op(op);
  if (Error e = check_buffer("recvbuf", recvbuf, result_count, &type)) return e;
  const bool in_place = is_in_place(sendbuf);
  if (in_place && schedule.comm().inter) return fail_in_place("sendbuf", "on an intercommunicator");
  if (!in_place) {
    if (Error e = check_buffer("sendbuf", sendbuf, count, &type)) return e;
    if (Error e = check_distinct(sendbuf, recvbuf, packed_size(type, count))) return e;
  }
  out = {piece(in_place ? recvbuf : sendbuf, count, type), piece(recvbuf, result_count, type)};
  return success;
}

}  // namespace

Error Reduce::operator()(Schedule& schedule) const {
  const Comm& comm = schedule.comm();
  if (Error e = check_reducible(op, type)) return e;
  schedule.set_op(op);
  if (comm.inter && root == MPI_PROC_NULL) return success;
  const bool receives = comm.inter ? root == MPI_ROOT : root == comm.rank;
  const bool in_place = receives && !comm.inter && is_in_place(sendbuf);
  const bool sends = !in_place && !(comm.inter && receives);
  if (receives) {
    if (Error e = check_buffer("recvbuf", recvbuf, count, &type)) return e;
  }
  if (sends) {
    if (Error e = check_buffer("sendbuf", sendbuf, count, &type)) return e;
  }
  if (sends && receives) {
    if (Error e = check_distinct(sendbuf, recvbuf, packed_size(type, count))) return e;
  }
  const Piece result = receives ? piece(recvbuf, count, type) : none;
  const Piece mine = sends ? piece(sendbuf, count, type) : result;
  if (count == 0) return success;
  if (comm.inter) {
    inter::reduce(schedule, mine, result, root);
  } else {
    reduce(team_of(schedule), mine, result, root);
  }
  return success;
}

Error Allreduce::operator()(Schedule& schedule) const {
  Operands o;
  if (Error e = operands(schedule, sendbuf, recvbuf, count, count, type, op, o)) return e;
  if (schedule.comm().inter) {
    inter::allreduce(schedule, o.mine, o.result);
  } else if (count > 0) {
    allreduce(team_of(schedule), o.mine, o.result);
  }
  return success;
}

Error ReduceScatter::operator()(Schedule& schedule) const {
  const Comm& comm = schedule.comm();
  if (Error e = check_slices(slices, comm.size)) return e;
  MPI_Count total = 0;
  for (int i = 0; i < comm.size; ++i) total += slices.count(i);
  Operands o;
  if (Error e = operands(schedule, sendbuf, recvbuf, total, slices.count(comm.rank), type, op, o)) return e;
  if (total == 0) return success;
  if (comm.inter) {
    inter::reduce_scatter(schedule, o.mine, o.result, slices);
  } else {
    reduce_scatter(team_of(schedule), o.mine, o.result, slices);
  }
  return success;
}

Error Scan::operator()(Schedule& schedule) const {
  const Comm& comm = schedule.comm();
  if (comm.inter) return fail(MPI_ERR_COMM, "comm is an intercommunicator, on which scans are not defined");
  Operands o;
  // The result of an exclusive scan is not significant at rank 0 and may be anything; unless in place, where it is the
  // operand.
  if (!inclusive && comm.rank == 0 && !is_in_place(sendbuf)) {
    if (Error e = operands(schedule, MPI_IN_PLACE, const_cast<void*>(sendbuf), count, count, type, op, o)) return e;
  } else {
    if (Error e = operands(schedule, sendbuf, recvbuf, count, count, type, op, o)) return e;
  }
  if (count == 0) return success;
  if (inclusive) {
    scan(team_of(schedule), o.mine, o.result);
  } else {
    exscan(team_of(schedule), o.mine, o.result);
  }
  return success;
}

}  // namespace heddle::coll::plan
