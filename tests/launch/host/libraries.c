/* Is a library's state each rank's own? `own`: yes. `shared`: ranks of a process have one state, as when the library is
   neither the program's nor named by --private. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "launch/host/loom.h"

static int rank, wrong;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  wrong = 1;
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int shared = argc > 1 && strcmp(argv[1], "shared") == 0;
  expect(loom_constructed() == 1, "the library's constructor did not run once");
  loom_pass();
  expect(loom_pick() == 1 && loom_pick() == 2, "a thread-local of the library is not the thread's own");
  MPI_Barrier(MPI_COMM_WORLD);
  expect(loom_passes() == (shared ? size : 1), "the library's state is not as it should be");
#ifdef LOOM_DATA
  /* The program's own copy of the variable is the library's too. */
  expect(loom_width == 7 && loom_width_place() == &loom_width, "program and library see different variables");
  loom_width = rank;
  MPI_Barrier(MPI_COMM_WORLD);
  expect(*loom_width_place() == rank, "a variable of the library is not the rank's own");
#endif
  MPI_Finalize();
  return wrong;
}
