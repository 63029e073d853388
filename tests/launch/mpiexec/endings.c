/* A real MPI program; its first argument says how rank 1 (or all) ends while the others wait in MPI_Recv. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Before MPI_Init, as launchers name it. */
static int launchers_rank(void) {
  const char* const names[] = {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (getenv(names[i]) != NULL) return atoi(getenv(names[i]));
  return -1;
}

int main(int argc, char** argv) {
  int rank, size, early, value = 0;
  const char* how = argc > 1 ? argv[1] : "well";
  if (sscanf(how, "early %d", &early) == 1 && launchers_rank() == early) return 7;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d of %d\n", rank, size); /* the next call of those that wait is MPI_Recv */
  fflush(stdout);
  if (strcmp(how, "well") == 0) {
    MPI_Finalize();
    return 0;
  }
  if (strcmp(how, "talk") == 0) { /* across the halves, until something ends it */
    static char out[100000], in[sizeof out];
    const int other = (rank + size / 2) % size;
    for (int bytes = 8;; bytes = 100008 - bytes)
      MPI_Sendrecv(out, bytes, MPI_CHAR, other, 0, in, bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 1) {
    if (strcmp(how, "segfault") == 0) raise(SIGSEGV);
    if (strcmp(how, "bad buffer") == 0) MPI_Send((void*)8, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (strcmp(how, "exit") == 0) exit(0);
    if (strcmp(how, "exit 7") == 0) exit(7);
    if (strcmp(how, "exit_group") == 0) syscall(SYS_exit_group, 0); /* as Go programs exit */
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
    if (strcmp(how, "bad rank") == 0) MPI_Send(&value, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
  }
  MPI_Recv(&value, 1, MPI_INT, 0, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 1;
}
