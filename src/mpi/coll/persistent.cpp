// MPI_Bcast_init and the like: each call plans a schedule, which every MPI_Start runs once.
#include "mpi/coll/plans.hpp"
#include "objects/binding/impl.hpp"

namespace heddle::mpi {

using namespace coll;

Error Barrier_init(Comm& comm, const Info*, MPI_Request* request) { return prepare(comm, request, plan::Barrier{}); }

Error Bcast_init(void* buffer, MPI_Count count, const Datatype& datatype, int root, Comm& comm, const Info*,
                 MPI_Request* request) {
  return prepare(comm, request, plan::Bcast{buffer, count, datatype, root});
}

Error Gather_init(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf,
                  MPI_Count recvcount, const Datatype* recvtype, int root, Comm& comm, const Info*,
                  MPI_Request* request) {
  return prepare(comm, request,
                 plan::Gather{sendbuf, sendcount, sendtype, Blocks::regular(recvbuf, recvcount, recvtype), root});
}

Error Gatherv_init(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf, Counts recvcounts,
                   Counts displs, const Datatype* recvtype, int root, Comm& comm, const Info*, MPI_Request* request) {
  return prepare(
      comm, request,
      plan::Gather{sendbuf, sendcount, sendtype, Blocks::vector(recvbuf, recvcounts, displs, recvtype), root});
}

Error Scatter_init(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf,
                   MPI_Count recvcount, const Datatype* recvtype, int root, Comm& comm, const Info*,
                   MPI_Request* request) {
  return prepare(comm, request,
                 plan::Scatter{Blocks::regular(sendbuf, sendcount, sendtype), recvbuf, recvcount, recvtype, root});
}

Error Scatterv_init(const void* sendbuf, Counts sendcounts, Counts displs, const Datatype* sendtype, void* recvbuf,
                    MPI_Count recvcount, const Datatype* recvtype, int root, Comm& comm, const Info*,
                    MPI_Request* request) {
  return prepare(
      comm, request,
      plan::Scatter{Blocks::vector(sendbuf, sendcounts, displs, sendtype), recvbuf, recvcount, recvtype, root});
}

Error Allgather_init(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf,
                     MPI_Count recvcount, const Datatype& recvtype, Comm& comm, const Info*, MPI_Request* request) {
  return prepare(comm, request,
                 plan::Allgather{sendbuf, sendcount, sendtype, Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Allgatherv_init(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf,
                      Counts recvcounts, Counts displs, const Datatype& recvtype, Comm& comm, const Info*,
                      MPI_Request* request) {
  return prepare(comm, request,
                 plan::Allgather{sendbuf, sendcount, sendtype, Blocks::vector(recvbuf, recvcounts, displs, &recvtype)});
}

Error Alltoall_init(const void* sendbuf, MPI_Count sendcount, const Datatype* sendtype, void* recvbuf,
                    MPI_Count recvcount, const Datatype& recvtype, Comm& comm, const Info*, MPI_Request* request) {
  return prepare(
      comm, request,
      plan::Alltoall{Blocks::regular(sendbuf, sendcount, sendtype), Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Alltoallv_init(const void* sendbuf, Counts sendcounts, Counts sdispls, const Datatype* sendtype, void* recvbuf,
                     Counts recvcounts, Counts rdispls, const Datatype& recvtype, Comm& comm, const Info*,
                     MPI_Request* request) {
  return prepare(comm, request,
                 plan::Alltoall{Blocks::vector(sendbuf, sendcounts, sdispls, sendtype),
                                Blocks::vector(recvbuf, recvcounts, rdispls, &recvtype)});
}

Error Alltoallw_init(const void* sendbuf, Counts sendcounts, Counts sdispls, const MPI_Datatype sendtypes[],
                     void* recvbuf, Counts recvcounts, Counts rdispls, const MPI_Datatype recvtypes[], Comm& comm,
                     const Info*, MPI_Request* request) {
  return prepare(comm, request,
                 plan::Alltoall{Blocks::wide(sendbuf, sendcounts, sdispls, sendtypes),
                                Blocks::wide(recvbuf, recvcounts, rdispls, recvtypes)});
}

Error Reduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op, int root,
                  Comm& comm, const Info*, MPI_Request* request) {
  return prepare(comm, request, plan::Reduce{sendbuf, recvbuf, count, datatype, op, root});
}

Error Allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op,
                     Comm& comm, const Info*, MPI_Request* request) {
  return prepare(comm, request, plan::Allreduce{sendbuf, recvbuf, count, datatype, op});
}

Error Reduce_scatter_init(const void* sendbuf, void* recvbuf, Counts recvcounts, const Datatype& datatype, const Op& op,
                          Comm& comm, const Info*, MPI_Request* request) {
  return prepare(comm, request, plan::ReduceScatter{sendbuf, recvbuf, Slices::of(recvcounts), datatype, op});
}

Error Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, MPI_Count recvcount, const Datatype& datatype,
                                const Op& op, Comm& comm, const Info*, MPI_Request* request) {
  return prepare(comm, request, plan::ReduceScatter{sendbuf, recvbuf, Slices::even(recvcount), datatype, op});
}

Error Scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op, Comm& comm,
                const Info*, MPI_Request* request) {
  return prepare(comm, request, plan::Scan{sendbuf, recvbuf, count, datatype, op, true});
}

Error Exscan_init(const void* sendbuf, void* recvbuf, MPI_Count count, const Datatype& datatype, const Op& op,
                  Comm& comm, const Info*, MPI_Request* request) {
  return prepare(comm, request, plan::Scan{sendbuf, recvbuf, count, datatype, op, false});
}

Error Neighbor_allgather_init(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, void* recvbuf,
                              MPI_Count recvcount, const Datatype& recvtype, Comm& comm, const Info*,
                              MPI_Request* request) {
  return prepare(
      comm, request,
      plan::NeighborAllgather{piece(sendbuf, sendcount, sendtype), Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Neighbor_allgatherv_init(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, void* recvbuf,
                               Counts recvcounts, Counts displs, const Datatype& recvtype, Comm& comm, const Info*,
                               MPI_Request* request) {
  return prepare(comm, request,
                 plan::NeighborAllgather{piece(sendbuf, sendcount, sendtype),
                                         Blocks::vector(recvbuf, recvcounts, displs, &recvtype)});
}

Error Neighbor_alltoall_init(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, void* recvbuf,
                             MPI_Count recvcount, const Datatype& recvtype, Comm& comm, const Info*,
                             MPI_Request* request) {
  return prepare(comm, request,
                 plan::NeighborAlltoall{Blocks::regular(sendbuf, sendcount, &sendtype),
                                        Blocks::regular(recvbuf, recvcount, &recvtype)});
}

Error Neighbor_alltoallv_init(const void* sendbuf, Counts sendcounts, Counts sdispls, const Datatype& sendtype,
                              void* recvbuf, Counts recvcounts, Counts rdispls, const Datatype& recvtype, Comm& comm,
                              const Info*, MPI_Request* request) {
  return prepare(comm, request,
                 plan::NeighborAlltoall{Blocks::vector(sendbuf, sendcounts, sdispls, &sendtype),
                                        Blocks::vector(recvbuf, recvcounts, rdispls, &recvtype)});
}

Error Neighbor_alltoallw_init(const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                              const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], Comm& comm, const Info*,
                              MPI_Request* request) {
  return prepare(comm, request,
                 plan::NeighborAlltoall{Blocks::wide(sendbuf, sendcounts, sdispls, sendtypes),
                                        Blocks::wide(recvbuf, recvcounts, rdispls, recvtypes)});
}

}  // namespace heddle::mpi
