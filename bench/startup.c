// startup: initializes and finalizes, nothing else; timed from outside. Given a number, checks that the world
// has that size.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int provided, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (provided != MPI_THREAD_MULTIPLE || (argc > 1 && ranks != atoi(argv[1]))) {
    fprintf(stderr, "startup: a world of %d ranks, thread level %d\n", ranks, provided);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Finalize();
}
