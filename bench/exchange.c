// exchange: what ranks in a ring swap with their neighbours, in microseconds a call. `--mode sendrecv|both`.
//
// sendrecv: each rank sends to the next one and receives from the one before (Sendrecv of the Intel MPI Benchmarks). both: it sends to both
// neighbours and receives from both (their Exchange). With several threads a rank, thread i talks to the threads i of the others; its
// messages have tag i, those that go backwards tag i + threads. The same buffers serve all calls; each message is stamped, and the stamp
// is checked.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct {
  const bench* b;
  bool both;
  char **out, **in;  // by thread, room for two messages each
} ring;

static uint64_t stamp(int from, long round, bool back) { return (uint64_t)round << 16 | (uint64_t)from << 1 | back; }

static void expect(const ring* r, const char* in, int from, long round, bool back) {
  const uint64_t wanted = stamp(from, round, back);
  if (bench_stamped(in, r->b->size, wanted)) return;
  uint64_t found = 0;
  memcpy(&found, in, r->b->size < sizeof found ? r->b->size : sizeof found);
  bench_wrong(r->b, "a message of a neighbour", (long long)wanted, (long long)found);
}

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  const ring* r = ctx;
  const bench* b = r->b;
  const int n = (int)b->size, next = (b->rank + 1) % b->ranks, last = (b->rank + b->ranks - 1) % b->ranks;
  const int there = thread, back = thread + b->threads;
  char *out = r->out[thread], *in = r->in[thread];
  MPI_Comm comm = b->comms[thread];
  for (long i = first; i < first + rounds; ++i) {
    bench_stamp(out, b->size, stamp(b->rank, i, false));
    if (r->both) {
      MPI_Request requests[4];
      bench_stamp(out + b->size, b->size, stamp(b->rank, i, true));
      MPI_Irecv(in, n, MPI_BYTE, last, there, comm, &requests[0]);
      MPI_Irecv(in + b->size, n, MPI_BYTE, next, back, comm, &requests[1]);
      MPI_Isend(out, n, MPI_BYTE, next, there, comm, &requests[2]);
      MPI_Isend(out + b->size, n, MPI_BYTE, last, back, comm, &requests[3]);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
      expect(r, in + b->size, next, i, true);
    } else {
      MPI_Sendrecv(out, n, MPI_BYTE, next, there, in, n, MPI_BYTE, last, there, comm, MPI_STATUS_IGNORE);
    }
    expect(r, in, last, i, false);
  }
  bench_checked(r->both ? 2 * rounds : rounds);
}

int main(int argc, char** argv) {
  bench b = {.mode = "sendrecv", .size = 8};
  bench_begin(&b, "exchange", 0, &argc, &argv);
  ring r = {.b = &b, .both = !strcmp(b.mode, "both")};
  if (b.ranks < 2 || (!r.both && strcmp(b.mode, "sendrecv")) || b.size > (256 << 20)) {
    if (!b.rank) fprintf(stderr, "exchange: --mode sendrecv|both, 2 ranks or more, --size up to 268435456\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  char *out[BENCH_MAX_THREADS], *in[BENCH_MAX_THREADS];
  r.out = out, r.in = in;
  for (int t = 0; t < b.threads; ++t) out[t] = bench_alloc(2 * b.size), in[t] = bench_alloc(2 * b.size);
  bench_timing t = bench_measure(&b, rounds_of, &r, 0);
  bench_report(&b, &t, BENCH_TIME, 1e6, "time of a call", "us");
  for (int i = 0; i < b.threads; ++i) free(out[i]), free(in[i]);
  bench_end(&b);
}
