// flood: rounds in which each rank sends --window messages to every other rank before it posts a receive, in million messages a second of all
// ranks. `--mode nonblocking|inverse`.
//
// nonblocking: MPI_Isend of all, then as many MPI_Irecv, then MPI_Waitall. inverse: MPI_Send of all and of a last one with another tag, which each
// receiver receives first. Nothing but the memory of the receiver bounds what is sent before it is received.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { data = 0, last = 1 };

typedef struct {
  const bench* b;
  bool inverse;
  char *out, *in;  // a message for each request
  MPI_Request* requests;
} storm;

static uint64_t stamp(int from, long round, int message) {
  return (uint64_t)round << 32 | (uint64_t)from << 24 | (uint64_t)message;
}

static void expect(const bench* b, const char* in, int from, long round, int message) {
  const uint64_t wanted = stamp(from, round, message);
  if (bench_stamped(in, b->size, wanted)) return;
  uint64_t found = 0;
  memcpy(&found, in, b->size < sizeof found ? b->size : sizeof found);
  bench_wrong(b, "a message of the flood", (long long)wanted, (long long)found);
}

static void nonblocking(const storm* s, long round) {
  const bench* b = s->b;
  const int n = (int)b->size;
  int count = 0;
  for (int i = 0; i < b->window; ++i) {
    for (int peer = 0; peer < b->ranks; ++peer) {
      if (peer == b->rank) continue;
      char* out = s->out + (size_t)(i * b->ranks + peer) * b->size;
      bench_stamp(out, b->size, stamp(b->rank, round, i));
      MPI_Isend(out, n, MPI_BYTE, peer, data, b->comms[0], &s->requests[count++]);
    }
  }
  for (int i = 0; i < b->window; ++i)
    for (int peer = 0; peer < b->ranks; ++peer)
      if (peer != b->rank)
        MPI_Irecv(s->in + (size_t)(i * b->ranks + peer) * b->size, n, MPI_BYTE, peer, data, b->comms[0],
                  &s->requests[count++]);
  MPI_Waitall(count, s->requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < b->window; ++i)
    for (int peer = 0; peer < b->ranks; ++peer)
      if (peer != b->rank) expect(b, s->in + (size_t)(i * b->ranks + peer) * b->size, peer, round, i);
}

static void inverse(const storm* s, long round) {
  const bench* b = s->b;
  const int n = (int)b->size;
  for (int peer = 0; peer < b->ranks; ++peer) {
    if (peer == b->rank) continue;
    for (int i = 0; i < b->window; ++i) {
      bench_stamp(s->out, b->size, stamp(b->rank, round, i));
      MPI_Send(s->out, n, MPI_BYTE, peer, data, b->comms[0]);
    }
    MPI_Send(NULL, 0, MPI_BYTE, peer, last, b->comms[0]);
  }
  for (int peer = 0; peer < b->ranks; ++peer) {
    if (peer == b->rank) continue;
    MPI_Recv(NULL, 0, MPI_BYTE, peer, last, b->comms[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < b->window; ++i) {
      MPI_Recv(s->in, n, MPI_BYTE, peer, data, b->comms[0], MPI_STATUS_IGNORE);
      expect(b, s->in, peer, round, i);
    }
  }
}

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  (void)thread;
  const storm* s = ctx;
  for (long i = first; i < first + rounds; ++i) (s->inverse ? inverse : nonblocking)(s, i);
  bench_checked(rounds * s->b->window * (s->b->ranks - 1));
}

int main(int argc, char** argv) {
  bench b = {.mode = "nonblocking", .size = 8, .window = 1000};
  bench_begin(&b, "flood", 0, &argc, &argv);
  storm s = {.b = &b, .inverse = !strcmp(b.mode, "inverse")};
  if (b.ranks < 2 || b.ranks > 255 || b.threads != 1 || (!s.inverse && strcmp(b.mode, "nonblocking"))) {
    if (!b.rank) fprintf(stderr, "flood: --mode nonblocking|inverse, 2 to 255 ranks of one thread\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const size_t messages = (size_t)b.window * (size_t)b.ranks;
  s.out = bench_alloc(messages * b.size);
  s.in = bench_alloc(messages * b.size);
  s.requests = bench_alloc(2 * messages * sizeof(MPI_Request));
  bench_timing t = bench_measure(&b, rounds_of, &s, 0);
  bench_report(&b, &t, BENCH_RATE, 1e-6 * b.window * b.ranks * (b.ranks - 1), "message rate", "M/s");
  free(s.out), free(s.in), free(s.requests);
  bench_end(&b);
}
