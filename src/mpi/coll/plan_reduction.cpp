#include "mpi/coll/check.hpp"
#include "mpi/coll/inter.hpp"
#include "mpi/coll/leaders.hpp"
#include "mpi/coll/plans.hpp"
#include "objects/op/op.hpp"

namespace heddle::coll::plan {

namespace {

// The operand and the result of a reduction whose result all members get.
struct Operands {
  BufferView mine;
  BufferView result;
};

// Null also where the order of the ranks forbids it.
const Nodes* nodes_for(Comm& comm, const Op& op) {
  const Nodes* nodes = nodes_of(comm);
  return nodes && by_leaders::may_reduce(*nodes, op) ? nodes : nullptr;
}

// `result_count` elements come out of `count`.
Operands operands(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Count result_count, const Datatype& type) {
  const void* from = is_in_place(sendbuf) ? recvbuf : sendbuf;
  return {piece(from, count, type), piece(recvbuf, result_count, type)};
}

}  // namespace

Error Reduce::operator()(Schedule& schedule) const {
  const Comm& comm = schedule.comm();
  if (comm.inter && root == MPI_PROC_NULL) return success;
  if (Error e = take_op(schedule, op, type)) return e;
  if (count == 0) return success;
  const bool receives = comm.inter ? root == MPI_ROOT : root == comm.rank;
  const bool sends = comm.inter ? !receives : !(receives && is_in_place(sendbuf));
  const BufferView result = receives ? piece(recvbuf, count, type) : none;
  const BufferView mine = sends ? piece(sendbuf, count, type) : result;
  if (comm.inter) {
    inter::reduce(schedule, mine, result, root);
  } else if (const Nodes* nodes = nodes_for(schedule.comm(), op)) {
    by_leaders::reduce(schedule, *nodes, mine, result, root);
  } else {
    reduce(team_of(schedule), mine, result, root);
  }
  return success;
}

Error Allreduce::operator()(Schedule& schedule) const {
  if (Error e = take_op(schedule, op, type)) return e;
  const Operands o = operands(sendbuf, recvbuf, count, count, type);
  if (schedule.comm().inter) {
    inter::allreduce(schedule, o.mine, o.result);
  } else if (count == 0) {
    return success;
  } else if (const Nodes* nodes = nodes_for(schedule.comm(), op)) {
    by_leaders::allreduce(schedule, *nodes, o.mine, o.result);
  } else {
    allreduce(team_of(schedule), o.mine, o.result);
  }
  return success;
}

Error ReduceScatter::operator()(Schedule& schedule) const {
  const Comm& comm = schedule.comm();
  if (Error e = take_op(schedule, op, type)) return e;
  MPI_Count total = 0;
  for (int i = 0; i < comm.size; ++i) total += slices.count(i);
  if (total == 0) return success;
  const Operands o = operands(sendbuf, recvbuf, total, slices.count(comm.rank), type);
  if (comm.inter) {
    inter::reduce_scatter(schedule, o.mine, o.result, slices);
  } else {
    reduce_scatter(team_of(schedule), o.mine, o.result, slices);
  }
  return success;
}

Error Scan::operator()(Schedule& schedule) const {
  if (Error e = take_op(schedule, op, type)) return e;
  if (count == 0) return success;
  const Operands o = operands(sendbuf, recvbuf, count, count, type);
  if (inclusive) {
    scan(team_of(schedule), o.mine, o.result);
  } else {
    exscan(team_of(schedule), o.mine, o.result);
  }
  return success;
}

}  // namespace heddle::coll::plan
