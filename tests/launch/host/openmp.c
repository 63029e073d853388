/* An OpenMP program: the threads of each team belong to the team's rank, have its globals and their own thread-privates, and
   communicate. Also: more thread-local memory than a host keeps, and arguments, per rank. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 4, rounds = 200, big = 100000 };

static int global;
static int own[big] = {41, 42};
#pragma omp threadprivate(own)

int main(int argc, char** argv) {
  int level, rank, size, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 2 || strcmp(argv[1], "argument") != 0) wrong = 1;
  argv[1][0] = (char)('a' + rank % 26);
  global = rank;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
  {
    const int me = omp_get_thread_num();
    wrong += own[0] != 41 || own[1] != 42 || own[big - 1] != 0;
    own[big - 1] = 1000 * rank + me;
    for (int i = 0; i < rounds; ++i) {
      int sent[2] = {global, own[big - 1]}, got[2];
      MPI_Sendrecv(sent, 2, MPI_INT, next, me, got, 2, MPI_INT, before, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      wrong += got[0] != before || got[1] != 1000 * before + me;
    }
  }
  wrong += argv[1][0] != 'a' + rank % 26;
  int all;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all != 0 && rank == 0) fprintf(stderr, "%d answers are wrong\n", all);
  MPI_Finalize();
  return all != 0;
}
