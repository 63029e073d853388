#include "mpi/coll/internal.hpp"

#include "mpi/coll/plans.hpp"
#include "objects/op/op.hpp"

namespace heddle::coll {

namespace {

Comm& local(Comm& comm) { return comm.inter ? *comm.local_comm : comm; }

MPI_Op op_of(ReductionKind fold) {
  switch (fold) {
    case ReductionKind::min:
      return MPI_MIN;
    case ReductionKind::max:
      return MPI_MAX;
    case ReductionKind::band:
      return MPI_BAND;
    case ReductionKind::bor:
      return MPI_BOR;
    default:
      return MPI_SUM;
  }
}

}  // namespace

Error barrier(Comm& comm) { return run(local(comm), plan::Barrier{}); }

Error bcast_bytes(Comm& comm, void* data, std::size_t bytes, int root) {
  return run(local(comm), [=](Schedule& s) { return bcast(team_of(s), raw(data, bytes), root), success; });
}

Error allgather_bytes(Comm& comm, const void* mine, void* all, std::size_t each) {
  return run(local(comm), [=](Schedule& s) {
    const Team team = team_of(s);
    const BufferView own = raw(mine, each);
    const Blocks blocks = Blocks::regular(all, own.count, own.type);
    if (blocks[team.rank].data != mine) team.copy(own, blocks[team.rank]);
    allgather(team, none, blocks);
    return success;
  });
}

Error allreduce(Comm& comm, std::uint64_t* values, std::size_t n, ReductionKind fold) {
  return run(local(comm), [=](Schedule& s) {
    s.set_op(*predefined_op(op_of(fold)));
    const BufferView vector = piece(values, static_cast<MPI_Count>(n), *predefined_datatype(MPI_UINT64_T));
    allreduce(team_of(s), vector, vector);
    return success;
  });
}

}  // namespace heddle::coll
