// computing: what communication that is under way costs a computation that fills all cores, in percent of its time. After the
// claim of Trahay 2009 that progress on idle cores takes no time from the program.
//
// Start as many ranks as cores, in pairs. Each computes pieces of some two milliseconds, alternately without communication and with an exchange of --size bytes (4 MiB), begun before the piece and waited for after it. Only the computing is timed; the
// slowdown is the mean of all ranks.
#include <stdlib.h>

#include "bench.h"

static volatile double sink;

// Seconds for so many steps.
static double compute(long steps) {
  const double begin = bench_now();
  double x = 1.0;
  for (long i = 0; i < steps; ++i) x = x * 1.0000001 + 1e-9;
  sink = x;
  return bench_now() - begin;
}

static long steps_of_a_piece(const bench* b) {
  long steps = 1 << 16;
  if (!b->rank)
    while (compute(steps) < 2e-3) steps *= 2;
  MPI_Bcast(&steps, 1, MPI_LONG, 0, b->control);
  return steps;
}

// Seconds of a piece while an exchange is under way.
static double compute_meanwhile(const bench* b, long steps, char* out, char* in, uint64_t stamp) {
  MPI_Request requests[2];
  const int count = (int)b->size, peer = bench_partner(b);
  bench_stamp(out, b->size, stamp);
  MPI_Irecv(in, count, MPI_BYTE, peer, 0, b->comms[0], &requests[0]);
  MPI_Isend(out, count, MPI_BYTE, peer, 0, b->comms[0], &requests[1]);
  const double seconds = compute(steps);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (!bench_stamped(in, b->size, stamp)) bench_wrong(b, "exchange", (long long)stamp, in[0]);
  bench_checked(1);
  return seconds;
}

int main(int argc, char** argv) {
  bench b = {.size = 4 << 20, .samples = 9};
  bench_begin(&b, "computing", BENCH_PAIRS, &argc, &argv);
  char *out = bench_alloc(b.size), *in = bench_alloc(b.size);
  const long steps = steps_of_a_piece(&b);
  double samples[BENCH_MAX_SAMPLES];
  uint64_t stamp = 0;
  for (int i = 0; i < b.samples; ++i) {
    double seconds[2] = {0, 0};
    int over = 0;
    MPI_Barrier(b.control);
    for (const double begin = bench_now(); !over;) {
      seconds[0] += compute(steps);
      seconds[1] += compute_meanwhile(&b, steps, out, in, stamp++);
      over = bench_now() - begin > b.seconds / b.samples;
      MPI_Bcast(&over, 1, MPI_INT, 0, b.control);
    }
    double mine = 100 * (seconds[1] / seconds[0] - 1), sum = 0;
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, b.control);
    samples[i] = sum / b.ranks;
  }
  bench_report_samples(&b, samples, b.samples, "slowdown", "%");
  free(out), free(in);
  bench_end(&b);
}
