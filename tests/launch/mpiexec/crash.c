/* Crashes on rank 1, or the only one, in the way that the first argument names. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int zero = 0;

static void* touch(void* address) { return *(void* volatile*)address = NULL; }
static int descend(volatile char* before) {
  volatile char room[4096];
  room[0] = before ? before[0] : 0;
  return descend(room) + room[0];
}
static void mine(int number) {
  (void)number;
  static const char text[] = "the program's own handler\n";
  if (write(2, text, sizeof text - 1) > 0) _exit(3);
}
static void* touch_in_thread(void* nothing) {
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  return touch((void*)16) ? nothing : NULL;
}
/* A stack that leads nowhere: the saved frames are overwritten. */
__attribute__((noinline)) static void smash(void) {
  volatile char* const here = __builtin_frame_address(0);
  for (int i = 0; i < 512; ++i) here[i] = 0x55;
}

int main(int argc, char** argv) {
  int rank, size, provided;
  const char* how = argv[1];
  if (strcmp(how, "own handler") == 0) signal(SIGSEGV, mine);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD); /* mpiexec names a call only of threads that have made one */
  if (rank == size - 1) {
    if (strcmp(how, "outside") == 0 || strcmp(how, "own handler") == 0) touch((void*)16);
    if (strcmp(how, "inside") == 0) MPI_Send((void*)16, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (strcmp(how, "thread") == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, touch_in_thread, NULL);
      pthread_join(thread, NULL);
    }
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "divide") == 0) printf("%d\n", 7 / zero);
    if (strcmp(how, "raise") == 0) raise(SIGILL);
    if (strcmp(how, "deep") == 0) printf("%d\n", descend(NULL));
    if (strcmp(how, "null call") == 0) ((void (*volatile)(void))0)();
    if (strcmp(how, "smash") == 0) smash();
    if (strcmp(how, "child") == 0) { /* a child that crashes is no rank */
      if (fork() == 0) touch((void*)16);
      wait(NULL);
      MPI_Finalize();
      return 0;
    }
  }
  if (strcmp(how, "child") == 0) {
    MPI_Finalize();
    return 0;
  }
  MPI_Recv(&rank, 1, MPI_INT, size - 1, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 1;
}
