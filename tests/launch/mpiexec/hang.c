/* Ranks that wait for what never comes, each in a way that the first argument names. The last rank, if it is not part of
 * that, sleeps outside MPI. Every rank prints a line before it begins to wait.
 *
 * "skip RANK": an allreduce that this rank leaves out, before which none has called anything.
 * "skips OPERATION...": each of these collectives and each rank that leaves it out, on a communicator "OPERATION-RANK". */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static const char* how;

static int is(const char* one) { return strcmp(how, one) == 0; }

static void* receive(void* tag) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, 0, *(int*)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

static void* compute(void* nothing) {
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE); /* now the library knows the thread */
  pause();
  return nothing;
}

static void threads(void) {
  static int tag[3] = {7, 7, 8};
  pthread_t thread[5];
  for (int i = 0; i < 3; ++i) pthread_create(&thread[i], NULL, receive, &tag[i]);
  for (int i = 3; i < 5; ++i) pthread_create(&thread[i], NULL, compute, NULL);
  receive(&tag[0]);
}

static void wait_for(int count, int any) {
  int value[3];
  MPI_Request requests[3];
  MPI_Comm halo;
  MPI_Comm_dup(MPI_COMM_WORLD, &halo);
  MPI_Comm_set_name(halo, "halo");
  for (int i = 0; i < count; ++i) MPI_Irecv(&value[i], 1, MPI_INT, 0, 10 + i, halo, &requests[i]);
  if (any)
    MPI_Waitany(count, requests, &any, MPI_STATUS_IGNORE);
  else
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void unnamed(void) {
  int value;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &half);
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, half, MPI_STATUS_IGNORE);
}

static void collective(void) {
  int value = 1, sum;
  MPI_Request request;
  if (rank == size - 1) pause();
  if (is("barrier")) MPI_Barrier(MPI_COMM_WORLD);
  if (is("reduce")) MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (is("bcast")) MPI_Bcast(&value, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
  if (is("gather")) MPI_Gather(&value, 1, MPI_INT, (int[8]){0}, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (is("scatter")) MPI_Scatter((int[8]){0}, 1, MPI_INT, &value, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
  if (is("ibarrier")) {
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  pause(); /* whom the operation lets go */
}

struct call {
  const char* operation;
  int skipper;
  MPI_Comm comm;
};

static void* collective_call(void* argument) {
  const struct call* call = argument;
  int in[8] = {0}, out[8];
  const int next = (call->skipper + 1) % size;
  if (strcmp(call->operation, "barrier") == 0) MPI_Barrier(call->comm);
  if (strcmp(call->operation, "bcast") == 0) MPI_Bcast(in, 1, MPI_INT, call->skipper, call->comm);
  if (strcmp(call->operation, "reduce") == 0) MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, next, call->comm);
  if (strcmp(call->operation, "allreduce") == 0) MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, call->comm);
  if (strcmp(call->operation, "alltoall") == 0) MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, call->comm);
  if (strcmp(call->operation, "allgather") == 0) MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, call->comm);
  return NULL;
}

static void skip(int skipper) {
  struct call call = {"allreduce", skipper, MPI_COMM_WORLD};
  volatile int computing = 1;
  while (rank == skipper && computing) continue;
  collective_call(&call);
}

static void skips(int operations, char** operation) {
  static struct call calls[8 * 8];
  pthread_t thread;
  char name[40];
  int count = 0;
  for (int i = 0; i < operations; ++i) {
    for (int skipper = 0; skipper < size; ++skipper) {
      struct call* call = &calls[count++];
      call->operation = operation[i];
      call->skipper = skipper;
      MPI_Comm_dup(MPI_COMM_WORLD, &call->comm);
      snprintf(name, sizeof name, "%s-%d", operation[i], skipper);
      MPI_Comm_set_name(call->comm, name);
    }
  }
  for (int i = 0; i < count; ++i)
    if (calls[i].skipper != rank) pthread_create(&thread, NULL, collective_call, &calls[i]);
  pause();
}

static void window(void) {
  MPI_Win win;
  int* memory;
  MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  if (rank == size - 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) pause();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
}

int main(int argc, char** argv) {
  int provided, value = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  how = argv[1];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!is("skip")) MPI_Barrier(MPI_COMM_WORLD);
  printf("ready\n");
  fflush(stdout);
  if (is("skip")) skip(atoi(argv[2]));
  if (is("skips")) skips(argc - 2, argv + 2);
  if (is("threads")) threads();
  if (is("waitall")) wait_for(3, 0);
  if (is("waitany")) wait_for(2, 1);
  if (is("unnamed")) unnamed();
  if (is("probe")) MPI_Probe(1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (is("send")) MPI_Ssend(&value, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD);
  if (is("window")) window();
  for (int flag = 0; is("polling") && !flag;) MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  collective();
  return 1;
}
