// collective: one blocking collective over all ranks, in microseconds a call. `--mode barrier|allreduce`.
//
// With several threads a rank each thread calls it on a communicator of its own, and the value is the time of
// one call as one thread sees it. barrier: nobody may leave before the last has entered, shown by the
// machine-wide clock. allreduce: sum of
// `--size` bytes of doubles, every answer checked.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static void barrier_rounds(void* ctx, int thread, long first, long rounds) {
  const bench* b = ctx;
  (void)first;
  for (long i = 0; i < rounds; ++i) MPI_Barrier(b->comms[thread]);
}

static void allreduce_rounds(void* ctx, int thread, long first, long rounds) {
  const bench* b = ctx;
  const int count = (int)(b->size / sizeof(double));
  double in[count], out[count];
  for (long i = first; i < first + rounds; ++i) {
    for (int k = 0; k < count; ++k) in[k] = (double)(b->rank + i % 1000 + k);
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, b->comms[thread]);
    const double ranks = b->ranks, base = ranks * (ranks - 1) / 2;
    for (int k = 0; k < count; ++k) {
      double expected = base + ranks * (double)(i % 1000 + k);
      if (out[k] != expected) bench_wrong(b, "allreduce", (long long)expected, (long long)out[k]);
    }
  }
  bench_checked(rounds);
}

// Each rank in turn comes late; everybody notes when it entered and left.
static void check_barrier(bench* b) {
  for (int late = 0; late < b->ranks; ++late) {
    if (b->rank == late) {
      double until = bench_now() + 0.002;
      while (bench_now() < until) {
      }
    }
    double entered = bench_now(), last_in, first_out;
    MPI_Barrier(b->comms[0]);
    double left = bench_now();
    MPI_Allreduce(&entered, &last_in, 1, MPI_DOUBLE, MPI_MAX, b->control);
    MPI_Allreduce(&left, &first_out, 1, MPI_DOUBLE, MPI_MIN, b->control);
    if (first_out < last_in)
      bench_wrong(b, "ns between last entry and first exit", 0, (long long)(1e9 * (first_out - last_in)));
    bench_checked(1);
  }
}

int main(int argc, char** argv) {
  bench b = {.mode = "barrier", .comm_each = true};
  bench_begin(&b, "collective", 0, &argc, &argv);
  const bool allreduce = !strcmp(b.mode, "allreduce");
  if ((!allreduce && strcmp(b.mode, "barrier")) || b.size < sizeof(double) || b.size % sizeof(double) ||
      b.size > 1 << 16 || (b.threads > 1 && !b.comm_each)) {
    if (!b.rank) fprintf(stderr, "collective: --mode barrier|allreduce, --size 8 to 65536 in doubles, --comm each\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (!allreduce) check_barrier(&b);
  bench_timing t = bench_measure(&b, allreduce ? allreduce_rounds : barrier_rounds, &b, 0);
  bench_report(&b, &t, BENCH_TIME, 1e6, b.mode, "us");
  bench_end(&b);
}
