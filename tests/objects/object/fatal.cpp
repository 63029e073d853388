// The output of a program that makes a mistake and leaves the error handler unchanged. The test reads the message.
#include "mpi/check.hpp"

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "loom");
  MPI_Barrier(comm);
  if (test::rank() == test::size() - 1) MPI_Send(nullptr, 0, MPI_INT, 77, 0, comm);
  MPI_Barrier(comm);
}
