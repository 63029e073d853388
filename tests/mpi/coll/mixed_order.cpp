// A nonblocking collective and a blocking one that members call in different orders: each meets its like. MPI asks for one order, but
// programs exist that do this (mpi4py's agreement where there is no other), and the two do not match each other in any case.
#include "mpi/check.hpp"

using namespace test;

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  for (int round = 0; round < 20; ++round) {
    const int root = round % size();
    const int own = rank() == root ? 0b1011 : 0b1101;
    int all = own;
    MPI_Request request = MPI_REQUEST_NULL;
    const auto start = [&] { MPI_Iallreduce(&own, &all, 1, MPI_INT, MPI_BAND, MPI_COMM_WORLD, &request); };
    if (rank() == root) {
      start();
      int flag = 0;
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      check(!flag || size() == 1, "the others have not come");
    }
    int largest = 0;
    MPI_Allreduce(&root, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    equal(largest, root, "the blocking one");
    if (rank() != root) start();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    equal(all, size() == 1 ? own : 0b1001, "the nonblocking one");
  }
}
