// A tool inside the program: it defines MPI_Send and MPI_Recv itself and reaches the library through the PMPI_ names. It
// sees the program's calls and none of the library's own (MPI 5.0, section 15.2).
#include "mpi/check.hpp"

namespace {
int sends = 0, receives = 0;
}

extern "C" int MPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Send(buf, count, datatype, dest, tag, comm);
}
extern "C" int MPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                        MPI_Status* status) {
  ++receives;
  return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
}

int main(int argc, char** argv) {
  test::Session session(&argc, &argv);
  const int next = (test::rank() + 1) % test::size(), previous = (test::rank() + test::size() - 1) % test::size();
  int mine = test::rank(), got = -1, sum = 0;
  if (test::rank() % 2 == 0) MPI_Send(&mine, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (test::rank() % 2 != 0) MPI_Send(&mine, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
  test::equal(got, previous, "message");

  MPI_Sendrecv(&mine, 1, MPI_INT, next, 1, &got, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_free(&copy);
  test::equal(sends, 1, "sends seen");
  test::equal(receives, 1, "receives seen");
}
