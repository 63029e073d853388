// deferred: ping-pong by nonblocking sends with 10 us of computing between MPI_Isend and its MPI_Wait. After Trahay 2009, Fig. 9:
// what it costs to leave the submission of a message to an idle core, and what that saves the computing thread.
//
// The value is half a round trip, the computing included, since each side computes once between two messages of its own. With
// `--mode call` it is the time of MPI_Isend itself, without the clock's. There each core has a rank that polls; with `--mode one-way` the
// partner does nothing but receive, blocked if it is told so (HEDDLE_WAIT=passive), and the sender computes for 60 us: the value is the median of a
// call's times. With `--mode arrival` it is the median from the call to the end of the partner's MPI_Recv, on one machine, which has one clock.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const double computing = 10e-6;  // seconds
static const double computing_one_way = 60e-6;

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

// One direction. Each message carries the time at which it was sent.
typedef struct {
  bench* b;
  char* memory;
  double* times;  // of each round, seconds: of the call, or until the message was there
  bool arrival;
} oneway;

static void oneway_rounds(void* ctx, int thread, long first, long rounds) {
  oneway* o = ctx;
  const bench* b = o->b;
  (void)thread, (void)first;
  for (long i = 0; i < rounds; ++i) {
    double begin;
    if (bench_leads(b)) {
      MPI_Request request;
      begin = bench_now();
      memcpy(o->memory, &begin, sizeof begin);
      MPI_Isend(o->memory, (int)b->size, MPI_BYTE, bench_partner(b), 0, b->comms[0], &request);
      const double end = bench_now();
      if (!o->arrival) o->times[i] = end - begin;
      compute(end + computing_one_way);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(o->memory, (int)b->size, MPI_BYTE, bench_partner(b), 0, b->comms[0], MPI_STATUS_IGNORE);
      const double end = bench_now();
      memcpy(&begin, o->memory, sizeof begin);
      if (begin <= 0 || begin > end) bench_wrong(b, "time in message", i, 0);
      if (o->arrival) o->times[i] = end - begin;
    }
  }
  bench_checked(rounds);
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Seconds between two readings of the clock.
static double clock_cost(void) {
  const int readings = 100000;
  const double begin = bench_now();
  for (int i = 0; i < readings; ++i) sink = bench_now();
  return (bench_now() - begin) / readings;
}

static void measure_one_way(bench* b, bool arrival) {
  enum { rounds = 3000 };
  oneway o = {
      .b = b, .memory = bench_alloc(b->size), .times = bench_alloc(rounds * sizeof(double)), .arrival = arrival};
  const double clock = clock_cost();
  double samples[BENCH_MAX_SAMPLES];
  oneway_rounds(&o, 0, 0, rounds / 10);
  for (int i = 0; i < b->samples; ++i) {
    bench_together(oneway_rounds, &o, rounds);
    qsort(o.times, rounds, sizeof(double), by_size);
    double median = 1e6 * (o.times[rounds / 2] - clock);
    // Rank 0 reports, and the partner of the leading one knows when messages were there.
    const int knows = arrival ? 1 : 0;
    MPI_Bcast(&median, 1, MPI_DOUBLE, knows, b->control);
    samples[i] = median;
  }
  bench_report_samples(b, samples, b->samples, arrival ? "from MPI_Isend to the end of MPI_Recv" : "time of MPI_Isend",
                       "us");
  free(o.memory), free(o.times);
}

int main(int argc, char** argv) {
  bench b = {.mode = "latency"};
  bench_begin(&b, "deferred", BENCH_PAIRS, &argc, &argv);
  const bool call = !strcmp(b.mode, "call"), arrival = !strcmp(b.mode, "arrival");
  const bool one_way = arrival || !strcmp(b.mode, "one-way");
  if (b.threads != 1 || (!call && !one_way && strcmp(b.mode, "latency") != 0) || (one_way && b.size < sizeof(double))) {
    if (!b.rank)
      fprintf(stderr,
              "deferred: --mode latency|call|one-way|arrival, with one thread; the latter two from 8 bytes on\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  pingpong p = {.b = &b, .out = bench_alloc(b.size), .in = bench_alloc(b.size)};
  if (one_way) {
    measure_one_way(&b, arrival);
  } else if (!call) {
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
