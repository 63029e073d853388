/* Prints its rank, the number of ranks and the standard's version; compiles as C and as C++. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, version, subversion;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_version(&version, &subversion);
  printf("%d of %d, MPI %d.%d\n", rank, size, version, subversion);
  MPI_Finalize();
  return 0;
}
