// MPI_Ibcast and the like: each call plans a schedule and hands it to a request, which progress advances.
#include "mpi/coll/plans.hpp"
#include "objects/binding/impl.hpp"

namespace heddle::mpi {

using namespace coll;

Error Ibarrier(Comm& comm, MPI_Request* request) { return start(comm, request, plan::Barrier{}); }

Error Ibcast(void* buffer, MPI_Count count, const Datatype& datatype, int root, Comm& comm, MPI_Request* request) {
  return start(comm, request, plan::Bcast{buffer, count, datatype, root});
}

Error Igather(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, MPI_Count recvcount,
              const Datatype* recvtype, int root, Comm& comm, MPI_Request* request) {
  return start(comm, request,
               plan::Gather{sendbuf, sendcount, sendtype, Blocks::regular(recvbuf, recvcount, recvtype), root});
}

Error Igatherv(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, Counts recvcounts,
               Counts displs, const Datatype* recvtype, int root, Comm& comm, MPI_Request* request) {
  return start(comm, request,
               plan::Gather{sendbuf, sendcount, sendtype, Blocks::vector(recvbuf, recvcounts, displs, recvtype), root});
}

Error Iscatter(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, MPI_Count recvcount,
               const Datatype* recvtype, int root, Comm& comm, MPI_Request* request) {
  return start(comm, request,
               plan::Scatter{Blocks::regular(sendbuf, sendcount, sendtype), recvbuf, recvcount, recvtype, root});
}

Error Iscatterv(const void* sendbuf, Counts sendcounts, Counts displs, const Datatype* sendtype, void* recvbuf,
                MPI_Count recvcount, const Datatype* recvtype, int root, Comm& comm, MPI_Request* request) {
  return start(
      comm, request,
      plan::Scatter{Blocks::vector(sendbuf, sendcounts, displs, sendtype), recvbuf, recvcount, recvtype, root});
}

Error Iallgather(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, MPI_Count recvcount,
                 const Datatype& recvtype, Comm& comm, MPI_Request* request) {
  return start(comm, request,
               plan::Allgather{sendbuf, sendcount, sendtype, Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Iallgatherv(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, Counts recvcounts,
                  Counts displs, const Datatype& recvtype, Comm& comm, MPI_Request* request) {
  return start(comm, request,
               plan::Allgather{sendbuf, sendcount, sendtype, Blocks::vector(recvbuf, recvcounts, displs, &recvtype)});
}

Error Ialltoall(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, MPI_Count recvcount,
                const Datatype& recvtype, Comm& comm, MPI_Request* request) {
  return start(
      comm, request,
      plan::Alltoall{Blocks::regular(sendbuf, sendcount, sendtype), Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Ialltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls, const Datatype* sendtype, void* recvbuf,
                 Counts recvcounts, Counts rdispls, const Datatype& recvtype, Comm& comm, MPI_Request* request) {
  return start(comm, request,
               plan::Alltoall{Blocks::vector(sendbuf, sendcounts, sdispls, sendtype),
                              Blocks::vector(recvbuf, recvcounts, rdispls, &recvtype)});
}

Error Ialltoallw(const void* sendbuf, Counts sendcounts, Counts sdispls, const MPI_Datatype sendtypes[], void* recvbuf,
                 Counts recvcounts, Counts rdispls, const MPI_Datatype recvtypes[], Comm& comm, MPI_Request* request) {
  return start(comm, request,
               plan::Alltoall{Blocks::wide(sendbuf, sendcounts, sdispls, sendtypes),
                              Blocks::wide(recvbuf, recvcounts, rdispls, recvtypes)});
}

Error Ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op, int root,
              Comm& comm, MPI_Request* request) {
  return start(comm, request, plan::Reduce{sendbuf, recvbuf, count, datatype, op, root});
}

Error Iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op,
                 Comm& comm, MPI_Request* request) {
  return start(comm, request, plan::Allreduce{sendbuf, recvbuf, count, datatype, op});
}

Error Ireduce_scatter(const void* sendbuf, void* recvbuf, Counts recvcounts, const Datatype& datatype, const Op& op,
                      Comm& comm, MPI_Request* request) {
  return start(comm, request, plan::ReduceScatter{sendbuf, recvbuf, Slices::of(recvcounts), datatype, op});
}

Error Ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, const Datatype& datatype,
                            const Op& op, Comm& comm, MPI_Request* request) {
  return start(comm, request, plan::ReduceScatter{sendbuf, recvbuf, Slices::even(recvcount), datatype, op});
}

Error Iscan(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op, Comm& comm,
            MPI_Request* request) {
  return start(comm, request, plan::Scan{sendbuf, recvbuf, count, datatype, op, true});
}

Error Iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op, Comm& comm,
              MPI_Request* request) {
  return start(comm, request, plan::Scan{sendbuf, recvbuf, count, datatype, op, false});
}

Error Ineighbor_allgather(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, void* recvbuf,
                          MPI_Count recvcount, const Datatype& recvtype, Comm& comm, MPI_Request* request) {
  return start(
      comm, request,
      plan::NeighborAllgather{piece(sendbuf, sendcount, sendtype), Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Ineighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, void* recvbuf,
                           Counts recvcounts, Counts displs, const Datatype& recvtype, Comm& comm,
                           MPI_Request* request) {
  return start(comm, request,
               plan::NeighborAllgather{piece(sendbuf, sendcount, sendtype),
                                       Blocks::vector(recvbuf, recvcounts, displs, &recvtype)});
}

Error Ineighbor_alltoall(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, void* recvbuf,
                         MPI_Count recvcount, const Datatype& recvtype, Comm& comm, MPI_Request* request) {
  return start(comm, request,
               plan::NeighborAlltoall{Blocks::regular(sendbuf, sendcount, &sendtype),
                                      Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Ineighbor_alltoallv(const void* sendbuf, Counts sendcounts, Counts sdispls, const Datatype& sendtype,
                          void* recvbuf, Counts recvcounts, Counts rdispls, const Datatype& recvtype, Comm& comm,
                          MPI_Request* request) {
  return start(comm, request,
               plan::NeighborAlltoall{Blocks::vector(sendbuf, sendcounts, sdispls, &sendtype),
                                      Blocks::vector(recvbuf, recvcounts, rdispls, &recvtype)});
}

Error Ineighbor_alltoallw(const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], Comm& comm, MPI_Request* request) {
  return start(comm, request,
               plan::NeighborAlltoall{Blocks::wide(sendbuf, sendcounts, sdispls, sendtypes),
                                      Blocks::wide(recvbuf, recvcounts, rdispls, recvtypes)});
}

}  // namespace heddle::mpi
