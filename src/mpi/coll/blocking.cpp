// MPI_Bcast and the like: each call plans its schedule and carries it out.
#include "mpi/coll/check.hpp"
#include "mpi/coll/node/shared.hpp"
#include "mpi/coll/plans.hpp"
#include "mpi/coll/stages.hpp"
#include "objects/binding/impl.hpp"

namespace heddle::mpi {

using namespace coll;

namespace {

// The same, with MPI_IN_PLACE replaced.

Attempt barrier_in_memory(Comm& comm) {
  if (Attempt done = shared_barrier(comm)) return done;
  return staged_barrier(comm);
}

Attempt bcast_in_memory(const BufferView& message, int root, Comm& comm) {
  if (Attempt done = shared_bcast(comm, message, root)) return done;
  return staged_bcast(comm, message, root);
}

Attempt reduce_in_memory(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& type, const Op& op,
                         int root, Comm& comm) {
  if (comm.inter) return {};
  const BufferView result = piece(recvbuf, count, type);
  const BufferView mine = is_in_place(sendbuf) ? result : piece(sendbuf, count, type);
  if (Attempt done = shared_reduce(comm, mine, result, op, root)) return done;
  return staged_reduce(comm, mine, result, op, root);
}

Attempt allreduce_in_memory(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& type, const Op& op,
                            Comm& comm) {
  const BufferView result = piece(recvbuf, count, type);
  const BufferView mine = is_in_place(sendbuf) ? result : piece(sendbuf, count, type);
  if (Attempt done = shared_allreduce(comm, mine, result, op)) return done;
  return staged_allreduce(comm, mine, result, op);
}

Attempt reduce_scatter_in_memory(const void* sendbuf, void* recvbuf, const Slices& slices, const Datatype& type,
                                 const Op& op, Comm& comm) {
  if (comm.inter) return {};
  MPI_Count first = 0, total = 0;
  for (int i = 0; i < comm.size; ++i) {
    if (i == comm.rank) first = total;
    total += slices.count(i);
  }
  const BufferView mine = piece(is_in_place(sendbuf) ? recvbuf : sendbuf, total, type);
  return shared_reduce_scatter(comm, mine, first, piece(recvbuf, slices.count(comm.rank), type), op);
}

Attempt gather_in_memory(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, const Blocks& all,
                         int root, Comm& comm) {
  if (comm.inter) return {};
  const bool in_place = comm.rank == root && is_in_place(sendbuf);
  return shared_gather(comm, in_place ? none : piece(sendbuf, sendcount, *sendtype), all, root);
}

Attempt scatter_in_memory(const Blocks& all, void* recvbuf, MPI_Count recvcount, const Datatype* recvtype, int root,
                          Comm& comm) {
  if (comm.inter) return {};
  const bool in_place = comm.rank == root && is_in_place(recvbuf);
  return shared_scatter(comm, all, in_place ? none : piece(recvbuf, recvcount, *recvtype), root);
}

Error gather(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, const Blocks& all, int root,
             Comm& comm) {
  if (Attempt done = gather_in_memory(sendbuf, sendcount, sendtype, all, root, comm)) return *done;
  return run(comm, plan::Gather{sendbuf, sendcount, sendtype, all, root});
}

Error scatter(const Blocks& all, void* recvbuf, MPI_Count recvcount, const Datatype* recvtype, int root, Comm& comm) {
  if (Attempt done = scatter_in_memory(all, recvbuf, recvcount, recvtype, root, comm)) return *done;
  return run(comm, plan::Scatter{all, recvbuf, recvcount, recvtype, root});
}

Error scan(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op, bool inclusive,
           Comm& comm) {
  const BufferView result = piece(recvbuf, count, datatype);
  const BufferView mine = is_in_place(sendbuf) ? result : piece(sendbuf, count, datatype);
  if (Attempt done = shared_scan(comm, mine, result, op, inclusive)) return *done;
  return run(comm, plan::Scan{sendbuf, recvbuf, count, datatype, op, inclusive});
}

Attempt allgather_in_memory(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, const Blocks& all,
                            Comm& comm) {
  if (comm.inter) return {};
  const BufferView mine = is_in_place(sendbuf) ? all[comm.rank] : piece(sendbuf, sendcount, *sendtype);
  if (Attempt done = shared_allgather(comm, mine, all)) return done;
  return staged_allgather(comm, mine, all);
}

Attempt alltoall_in_memory(const Blocks& from, const Blocks& to, Comm& comm) {
  return shared_alltoall(comm, is_in_place(from.base) ? to : from, to);
}

}  // namespace

Error Barrier(Comm& comm) {
  if (Attempt done = barrier_in_memory(comm)) return *done;
  return run(comm, plan::Barrier{});
}

Error Bcast(void* buffer, MPI_Count count, const Datatype& datatype, int root, Comm& comm) {
  if (Attempt done = bcast_in_memory(piece(buffer, count, datatype), root, comm)) return *done;
  return run(comm, plan::Bcast{buffer, count, datatype, root});
}

Error Gather(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, MPI_Count recvcount,
             const Datatype* recvtype, int root, Comm& comm) {
  return gather(sendbuf, sendcount, sendtype, Blocks::regular(recvbuf, recvcount, recvtype), root, comm);
}

Error Gatherv(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, Counts recvcounts,
              Counts displs, const Datatype* recvtype, int root, Comm& comm) {
  return gather(sendbuf, sendcount, sendtype, Blocks::vector(recvbuf, recvcounts, displs, recvtype), root, comm);
}

Error Scatter(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, MPI_Count recvcount,
              const Datatype* recvtype, int root, Comm& comm) {
  return scatter(Blocks::regular(sendbuf, sendcount, sendtype), recvbuf, recvcount, recvtype, root, comm);
}

Error Scatterv(const void* sendbuf, Counts sendcounts, Counts displs, const Datatype* sendtype, void* recvbuf,
               MPI_Count recvcount, const Datatype* recvtype, int root, Comm& comm) {
  return scatter(Blocks::vector(sendbuf, sendcounts, displs, sendtype), recvbuf, recvcount, recvtype, root, comm);
}

Error Allgather(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, MPI_Count recvcount,
                const Datatype& recvtype, Comm& comm) {
  if (Attempt done =
          allgather_in_memory(sendbuf, sendcount, sendtype, Blocks::regular(recvbuf, recvcount, &recvtype), comm))
    return *done;
  return run(comm, plan::Allgather{sendbuf, sendcount, sendtype, Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Allgatherv(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, Counts recvcounts,
                 Counts displs, const Datatype& recvtype, Comm& comm) {
  return run(comm,
             plan::Allgather{sendbuf, sendcount, sendtype, Blocks::vector(recvbuf, recvcounts, displs, &recvtype)});
}

Error Alltoall(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, MPI_Count recvcount,
               const Datatype& recvtype, Comm& comm) {
  if (Attempt done = alltoall_in_memory(Blocks::regular(sendbuf, sendcount, sendtype),
                                        Blocks::regular(recvbuf, recvcount, &recvtype), comm))
    return *done;
  return run(comm, plan::Alltoall{Blocks::regular(sendbuf, sendcount, sendtype),
                                  Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Alltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls, const Datatype* sendtype, void* recvbuf,
                Counts recvcounts, Counts rdispls, const Datatype& recvtype, Comm& comm) {
  return run(comm, plan::Alltoall{Blocks::vector(sendbuf, sendcounts, sdispls, sendtype),
                                  Blocks::vector(recvbuf, recvcounts, rdispls, &recvtype)});
}

Error Alltoallw(const void* sendbuf, Counts sendcounts, Counts sdispls, const MPI_Datatype sendtypes[], void* recvbuf,
                Counts recvcounts, Counts rdispls, const MPI_Datatype recvtypes[], Comm& comm) {
  return run(comm, plan::Alltoall{Blocks::wide(sendbuf, sendcounts, sdispls, sendtypes),
                                  Blocks::wide(recvbuf, recvcounts, rdispls, recvtypes)});
}

Error Reduce(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op, int root,
             Comm& comm) {
  if (Attempt done = reduce_in_memory(sendbuf, recvbuf, count, datatype, op, root, comm)) return *done;
  return run(comm, plan::Reduce{sendbuf, recvbuf, count, datatype, op, root});
}

Error Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op,
                Comm& comm) {
  if (Attempt done = allreduce_in_memory(sendbuf, recvbuf, count, datatype, op, comm)) return *done;
  return run(comm, plan::Allreduce{sendbuf, recvbuf, count, datatype, op});
}

Error Reduce_scatter(const void* sendbuf, void* recvbuf, Counts recvcounts, const Datatype& datatype, const Op& op,
                     Comm& comm) {
  const Slices slices = Slices::of(recvcounts);
  if (Attempt done = reduce_scatter_in_memory(sendbuf, recvbuf, slices, datatype, op, comm)) return *done;
  return run(comm, plan::ReduceScatter{sendbuf, recvbuf, slices, datatype, op});
}

Error Reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, const Datatype& datatype,
                           const Op& op, Comm& comm) {
  const Slices slices = Slices::even(recvcount);
  if (Attempt done = reduce_scatter_in_memory(sendbuf, recvbuf, slices, datatype, op, comm)) return *done;
  return run(comm, plan::ReduceScatter{sendbuf, recvbuf, slices, datatype, op});
}

Error Scan(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op, Comm& comm) {
  return scan(sendbuf, recvbuf, count, datatype, op, true, comm);
}

Error Exscan(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op, Comm& comm) {
  return scan(sendbuf, recvbuf, count, datatype, op, false, comm);
}

Error Neighbor_allgather(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, void* recvbuf,
                         MPI_Count recvcount, const Datatype& recvtype, Comm& comm) {
  return run(comm, plan::NeighborAllgather{piece(sendbuf, sendcount, sendtype),
                                           Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Neighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, void* recvbuf,
                          Counts recvcounts, Counts displs, const Datatype& recvtype, Comm& comm) {
  return run(comm, plan::NeighborAllgather{piece(sendbuf, sendcount, sendtype),
                                           Blocks::vector(recvbuf, recvcounts, displs, &recvtype)});
}

Error Neighbor_alltoall(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, void* recvbuf,
                        MPI_Count recvcount, const Datatype& recvtype, Comm& comm) {
  return run(comm, plan::NeighborAlltoall{Blocks::regular(sendbuf, sendcount, &sendtype),
                                          Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Neighbor_alltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls, const Datatype& sendtype,
                         void* recvbuf, Counts recvcounts, Counts rdispls, const Datatype& recvtype, Comm& comm) {
  return run(comm, plan::NeighborAlltoall{Blocks::vector(sendbuf, sendcounts, sdispls, &sendtype),
                                          Blocks::vector(recvbuf, recvcounts, rdispls, &recvtype)});
}

Error Neighbor_alltoallw(const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
                         const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, const MPI_Aint rdispls[],
                         const MPI_Datatype recvtypes[], Comm& comm) {
  return run(comm, plan::NeighborAlltoall{Blocks::wide(sendbuf, sendcounts, sdispls, sendtypes),
                                          Blocks::wide(recvbuf, recvcounts, rdispls, recvtypes)});
}

}  // namespace heddle::mpi
