// short-beside-long: do long messages of one thread hold up the short ones of the others? After Thakur and Gropp's tests.
//
// Thread 0 of rank 0 streams messages of --size bytes (1 MiB) to rank 1; its other threads ping-pong 8 bytes with rank 2
// meanwhile. The value is half a round trip of the short ones. `--mode alone` leaves out the stream, for comparison.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct {
  bench* b;
  char* buffer;
  bool alone;
  atomic_long finished;  // how often a thread of this rank has come to the end of its short messages
  long samples;          // thread 0's count of samples
} job;

static void short_rounds(const job* j, int thread, long first, long rounds) {
  const bench* b = j->b;
  MPI_Comm comm = b->comms[thread];
  for (long i = first; i < first + rounds; ++i) {
    uint64_t ping = (uint64_t)i * 1024 + (uint64_t)thread, got = 0;
    if (!b->rank) {
      MPI_Send(&ping, 1, MPI_UINT64_T, 2, thread, comm);
      MPI_Recv(&got, 1, MPI_UINT64_T, 2, thread, comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&got, 1, MPI_UINT64_T, 0, thread, comm, MPI_STATUS_IGNORE);
      MPI_Send(&got, 1, MPI_UINT64_T, 0, thread, comm);
    }
    if (got != ping) bench_wrong(b, "ping", (long long)ping, (long long)got);
  }
  bench_checked(rounds);
}

// Long messages until the short ones are done; an empty one ends the stream.
static void long_stream(job* j) {
  const bench* b = j->b;
  if (!b->rank) {
    const long all = ++j->samples * (b->threads - 1);
    for (uint64_t i = 0; atomic_load(&j->finished) < all; ++i) {
      bench_stamp(j->buffer, b->size, i);
      MPI_Send(j->buffer, (int)b->size, MPI_BYTE, 1, 0, b->comms[0]);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, b->comms[0]);
    return;
  }
  for (uint64_t i = 0;; ++i) {
    MPI_Status status;
    int count;
    MPI_Recv(j->buffer, (int)b->size, MPI_BYTE, 0, 0, b->comms[0], &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (!count) return;
    if (!bench_stamped(j->buffer, b->size, i)) bench_wrong(b, "long message", (long long)i, *(unsigned char*)j->buffer);
    bench_checked(1);
  }
}

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  job* j = ctx;
  if (thread) {
    if (j->b->rank != 1) short_rounds(j, thread, first, rounds);
    atomic_fetch_add(&j->finished, 1);
  } else if (!j->alone && j->b->rank != 2) {
    long_stream(j);
  }
}

int main(int argc, char** argv) {
  bench b = {.threads = 2, .size = 1 << 20, .mode = "beside"};
  bench_begin(&b, "short-beside-long", 3, &argc, &argv);
  if (b.threads < 2 || (strcmp(b.mode, "beside") && strcmp(b.mode, "alone"))) {
    if (!b.rank) fprintf(stderr, "short-beside-long: two threads at least, --mode beside|alone\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  job j = {.b = &b, .buffer = bench_alloc(b.size), .alone = !strcmp(b.mode, "alone")};
  bench_timing t = bench_measure(&b, rounds_of, &j, 0);
  bench_report(&b, &t, BENCH_TIME, 0.5e6, "half round trip of the short messages", "us");
  free(j.buffer);
  bench_end(&b);
}
