// instructions: the calls whose instructions `heddle bench count` has valgrind count, each in a function of its own, named
// step_NAME. Two ranks, messages of 8 bytes. It prints nothing and measures nothing; it checks its answers.
//
// A receiver must not come to a message by chance: the ranks tell each other how far they are through memory that they share, and
// between the steps they make no call. So every call does the same in each round, and its count does not depend on the machine.
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { warm_up = 20, rounds = 100, several = 8, tag = 1 };

typedef long long message;
static MPI_Comm comm;
static MPI_Win window;
static _Atomic int* turns;  // by rank: how far it is
static int rank, turn;
static message out[several], in[several];
static MPI_Request requests[several], sent[several], receives[several], pending = MPI_REQUEST_NULL;
static message never;

#define STEP __attribute__((noipa)) static void

STEP step_isend(int i) { MPI_Isend(&out[i], 1, MPI_LONG_LONG, 0, tag, comm, &sent[i]); }
STEP step_wait_of_a_send_that_is_done(int i) { MPI_Wait(&sent[i], MPI_STATUS_IGNORE); }
STEP step_irecv(int i) { MPI_Irecv(&in[i], 1, MPI_LONG_LONG, 1, tag, comm, &requests[i]); }
STEP step_irecv_of_an_unexpected_message(int i) { MPI_Irecv(&in[i], 1, MPI_LONG_LONG, 1, tag, comm, &requests[i]); }
STEP step_wait_arrival_and_completion(int i) { MPI_Wait(&requests[i], MPI_STATUS_IGNORE); }
STEP step_waitall_of_1(void) { MPI_Waitall(1, requests, MPI_STATUSES_IGNORE); }
STEP step_waitall_of_8(void) { MPI_Waitall(several, requests, MPI_STATUSES_IGNORE); }
STEP step_send(int i) { MPI_Send(&out[i], 1, MPI_LONG_LONG, 0, tag, comm); }
STEP step_recv_of_a_message_that_is_there(int i) {
  MPI_Recv(&in[i], 1, MPI_LONG_LONG, 1, tag, comm, MPI_STATUS_IGNORE);
}
STEP step_test_that_finds_its_message(int i, int* flag) { MPI_Test(&requests[i], flag, MPI_STATUS_IGNORE); }
STEP step_test_in_vain(int* flag) { MPI_Test(&pending, flag, MPI_STATUS_IGNORE); }
STEP step_iprobe_in_vain(int* flag) { MPI_Iprobe(1, tag, comm, flag, MPI_STATUS_IGNORE); }
STEP step_put(void) { MPI_Put(&out[0], 1, MPI_LONG_LONG, 1, 1, 1, MPI_LONG_LONG, window); }
STEP step_win_flush(void) { MPI_Win_flush(1, window); }

static void expect(message got, message wanted, const char* what) {
  if (got == wanted) return;
  fprintf(stderr, "instructions: %s: %lld is not %lld\n", what, got, wanted);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Both ranks have come here. No call: the waiting rank polls no arrivals.
static void synchronize(void) {
  atomic_store(&turns[rank], ++turn);
  while (atomic_load(&turns[1 - rank]) < turn) sched_yield();
}

static void send_all(int n, int round) {
  for (int i = 0; i < n; ++i) {
    out[i] = 100 * round + i;
    step_isend(i);
  }
}
static void end_sends(int n) {
  for (int i = 0; i < n; ++i) step_wait_of_a_send_that_is_done(i);
}
static void check_all(int n, int round) {
  for (int i = 0; i < n; ++i) expect(in[i], 100 * round + i, "message");
}

// Each exchange: the receives are posted, the messages are in the channel, then they are waited for.
static void exchange(int n, int round, void (*complete)(void)) {
  if (rank == 0)
    for (int i = 0; i < n; ++i) step_irecv(i);
  synchronize();
  if (rank == 1) send_all(n, round);
  synchronize();
  if (rank == 0) {
    complete();
    check_all(n, round);
  }
  synchronize();
  if (rank == 1) end_sends(n);
}

static void complete_by_wait(void) { step_wait_arrival_and_completion(0); }
static void complete_by_test(void) {
  int flag;
  step_test_that_finds_its_message(0, &flag);
  expect(flag, 1, "flag of a test");
}

static void blocking(int round) {
  if (rank == 1) {
    out[0] = 100 * round;
    step_send(0);
  }
  synchronize();
  if (rank == 0) {
    step_recv_of_a_message_that_is_there(0);
    check_all(1, round);
  }
  synchronize();
}

static void unexpected(int round) {
  if (rank == 1) send_all(1, round);
  synchronize();
  if (rank == 0) {
    int flag = 0;
    while (!flag) MPI_Iprobe(1, tag, comm, &flag, MPI_STATUS_IGNORE);
    step_irecv_of_an_unexpected_message(0);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    check_all(1, round);
  }
  synchronize();
  if (rank == 1) end_sends(1);
}

static void in_vain(void) {
  if (rank != 0) return;
  int flag;
  step_test_in_vain(&flag);
  expect(flag, 0, "flag of a test in vain");
  step_iprobe_in_vain(&flag);
  expect(flag, 0, "flag of a probe in vain");
}

static void one_sided(void) {
  if (rank != 0) return;
  step_put();
  step_win_flush();
}

static void all(int n) {
  for (int round = 0; round < n; ++round) {
    exchange(1, round, complete_by_wait);
    exchange(1, round, step_waitall_of_1);
    exchange(several, round, step_waitall_of_8);
    exchange(1, round, complete_by_test);
    blocking(round);
    unexpected(round);
    in_vain();
    one_sided();
    synchronize();
  }
}

// The start of a count: valgrind is told to forget all counts when this function is entered.
__attribute__((noipa)) static void counted(int n) { all(n); }

int main(int argc, char** argv) {
  int provided, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (ranks != 2) {
    fprintf(stderr, "instructions: two ranks are needed\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  void* memory;
  MPI_Win_allocate_shared(2 * sizeof(message), sizeof(message), MPI_INFO_NULL, comm, &memory, &window);
  MPI_Aint size;
  int unit;
  MPI_Win_shared_query(window, 0, &size, &unit, &memory);
  turns = memory;
  MPI_Win_lock_all(0, window);
  MPI_Irecv(&never, 1, MPI_LONG_LONG, 1 - rank, tag + 1, comm, &pending);
  all(warm_up);
  counted(rounds);
  MPI_Barrier(comm);
  MPI_Cancel(&pending);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
