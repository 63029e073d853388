// latency: blocking ping-pong between pairs of ranks, `--threads` pairs of threads in each, all at a time.
//
// Thread i of a leading rank sends to thread i of its partner and waits for the answer; its tag is i. The value is half
// a round trip as one pair sees it. With --level single it shows what thread safety costs one thread. As in Díaz-Martín
// 2014 Figs. 4, 8; Trahay 2009 Figs. 3, 5.
//
// --mode rate: the same, and the value is what all pairs together do: million round trips a second.
//
// --mode any-tag: each receive has MPI_ANY_TAG. For one thread, or --comm each.
//
// --mode fan: one thread of the leading rank talks to all threads of its partner, whichever receives first, as in Dang 2017
// Figs. 2, 8, 10. The value is half a round trip of one message.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct {
  bench* b;
  char** buffers;
  bool any_tag;
} pingpong;

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  const pingpong* p = ctx;
  const bench* b = p->b;
  MPI_Comm comm = b->comms[thread];
  const int peer = bench_partner(b), count = (int)b->size;
  char* buffer = p->buffers[thread];
  const int tag = p->any_tag ? MPI_ANY_TAG : thread;
  for (long i = first; i < first + rounds; ++i) {
    const uint64_t ping = (uint64_t)(2 * i * b->threads + thread), pong = ~ping;
    if (bench_leads(b)) {
      bench_stamp(buffer, b->size, ping);
      MPI_Send(buffer, count, MPI_BYTE, peer, thread, comm);
      MPI_Recv(buffer, count, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE);
      if (!bench_stamped(buffer, b->size, pong)) bench_wrong(b, "answer to ping", i, *(unsigned char*)buffer);
    } else {
      MPI_Recv(buffer, count, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE);
      if (!bench_stamped(buffer, b->size, ping)) bench_wrong(b, "ping", i, *(unsigned char*)buffer);
      bench_stamp(buffer, b->size, pong);
      MPI_Send(buffer, count, MPI_BYTE, peer, thread, comm);
    }
  }
  bench_checked(rounds);
}

static void fan_rounds(void* ctx, int thread, long first, long rounds) {
  const pingpong* p = ctx;
  const bench* b = p->b;
  MPI_Comm comm = b->comms[0];
  const int peer = bench_partner(b), count = (int)b->size;
  char* buffer = p->buffers[thread];
  if (bench_leads(b)) {
    if (thread) return;
    for (long i = first * b->threads; i < (first + rounds) * b->threads; ++i) {
      bench_stamp(buffer, b->size, (uint64_t)i);
      MPI_Send(buffer, count, MPI_BYTE, peer, 0, comm);
      MPI_Recv(buffer, count, MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE);
      if (!bench_stamped(buffer, b->size, (uint64_t)i)) bench_wrong(b, "echo", i, *(unsigned char*)buffer);
    }
    bench_checked(rounds * b->threads);
    return;
  }
  for (long i = 0; i < rounds; ++i) {
    MPI_Recv(buffer, count, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE);
    MPI_Send(buffer, count, MPI_BYTE, peer, 1, comm);
  }
}

int main(int argc, char** argv) {
  bench b = {.mode = "pairs"};
  bench_begin(&b, "latency", BENCH_PAIRS, &argc, &argv);
  const bool fan = !strcmp(b.mode, "fan"), rate = !strcmp(b.mode, "rate");
  const bool any_tag = !strcmp(b.mode, "any-tag");
  if (any_tag ? b.threads > 1 && !b.comm_each : !fan && !rate && strcmp(b.mode, "pairs") != 0) {
    if (!b.rank) fprintf(stderr, "latency: --mode pairs|rate|fan|any-tag, the last with one thread or --comm each\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  char* buffers[BENCH_MAX_THREADS];
  for (int i = 0; i < b.threads; ++i) buffers[i] = bench_alloc(b.size);
  pingpong p = {&b, buffers, any_tag};
  bench_timing t = bench_measure(&b, fan ? fan_rounds : rounds_of, &p, 0);
  if (rate)
    bench_report(&b, &t, BENCH_RATE, 1e-6 * b.threads * (b.ranks / 2), "round trips", "M/s");
  else
    bench_report(&b, &t, BENCH_TIME, 0.5e6 / (fan ? b.threads : 1), "half round trip", "us");
  for (int i = 0; i < b.threads; ++i) free(buffers[i]);
  bench_end(&b);
}
