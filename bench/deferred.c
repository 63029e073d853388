// deferred: ping-pong by nonblocking sends with 10 us of computing between MPI_Isend and its MPI_Wait. After Trahay 2009, Fig. 9:
// what it costs to leave the submission of a message to an idle core, and what that saves whoever computes.
//
// The value is half a round trip, the computing included, since each side computes once between two messages of its own. With
// `--mode call` it is the time of MPI_Isend itself, without the clock's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const double computing = 10e-6;  // seconds

typedef struct {
  bench* b;
  char *out, *in;
  double calls;  // seconds in MPI_Isend
  long done;     // rounds so far, for the stamps
} pingpong;

static volatile double sink;

static void compute(double until) {
  double x = 1.0;
  while (bench_now() < until)
    for (int i = 0; i < 20; ++i) x = x * 1.0000001 + 1e-9;
  sink = x;
}

static void send(pingpong* p, uint64_t stamp) {
  const bench* b = p->b;
  MPI_Request request;
  bench_stamp(p->out, b->size, stamp);
  const double begin = bench_now();
  MPI_Isend(p->out, (int)b->size, MPI_BYTE, bench_partner(b), 0, b->comms[0], &request);
  const double end = bench_now();
  p->calls += end - begin;
  compute(end + computing);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive(pingpong* p, uint64_t stamp) {
  const bench* b = p->b;
  MPI_Recv(p->in, (int)b->size, MPI_BYTE, bench_partner(b), 0, b->comms[0], MPI_STATUS_IGNORE);
  if (!bench_stamped(p->in, b->size, stamp)) bench_wrong(b, "message", (long long)stamp, *(unsigned char*)p->in);
}

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  pingpong* p = ctx;
  (void)thread, (void)first;
  for (long i = 0; i < rounds; ++i) {
    const uint64_t stamp = (uint64_t)p->done++;
    if (bench_leads(p->b)) {
      send(p, stamp);
      receive(p, ~stamp);
    } else {
      receive(p, stamp);
      send(p, ~stamp);
    }
  }
  bench_checked(rounds);
}

// Seconds between two readings of the clock.
static double clock_cost(void) {
  const int readings = 100000;
  const double begin = bench_now();
  for (int i = 0; i < readings; ++i) sink = bench_now();
  return (bench_now() - begin) / readings;
}

int main(int argc, char** argv) {
  bench b = {.mode = "latency"};
  bench_begin(&b, "deferred", BENCH_PAIRS, &argc, &argv);
  const bool call = !strcmp(b.mode, "call");
  if (b.threads != 1 || (!call && strcmp(b.mode, "latency"))) {
    if (!b.rank) fprintf(stderr, "deferred: --mode latency|call, with one thread\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  pingpong p = {.b = &b, .out = bench_alloc(b.size), .in = bench_alloc(b.size)};
  if (!call) {
    bench_timing t = bench_measure(&b, rounds_of, &p, 0);
    bench_report(&b, &t, BENCH_TIME, 0.5e6, "half round trip", "us");
  } else {
    const long rounds = 2000;
    const double clock = clock_cost();
    double samples[BENCH_MAX_SAMPLES];
    int count = 0;
    rounds_of(&p, 0, 0, rounds);
    for (double seconds = 0; count < b.samples; ++count) {
      long done = 0;
      p.calls = seconds = 0;
      do {
        seconds += bench_together(rounds_of, &p, rounds);
        done += rounds;
      } while (!bench_enough(&b, seconds));
      samples[count] = 1e6 * (p.calls / (double)done - clock);
    }
    bench_report_samples(&b, samples, count, "time of MPI_Isend", "us");
  }
  free(p.out), free(p.in);
  bench_end(&b);
}
