// cores: how much more all ranks copy at the same time, each in memory of its own, than one of them alone: as many times as there are
// ranks where each has a core, hardly more than once where two are hardware threads of the same core. A virtual machine does not say
// which it is, and may change it from minute to minute; what two ranks do together has this as its bound.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

enum { PIECES = 32 };  // of --size bytes (64 KiB): more than a core's own cache, so that a copy is work for all of it

// Bytes a second.
static double copy_for(double seconds, const bench* b, char* to, const char* from) {
  const double begin = bench_now();
  double elapsed, bytes = 0;
  do {
    for (size_t at = 0; at < PIECES * b->size; at += b->size) memcpy(to + at, from + at, b->size);
    bytes += PIECES * (double)b->size;
  } while ((elapsed = bench_now() - begin) < seconds);
  return bytes / elapsed;
}

// A rank that is not at work must not wait in MPI meanwhile: many libraries wait busily.
static void sleep_for(double seconds) {
  const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&t, NULL);
}

int main(int argc, char** argv) {
  bench b = {.size = 64 << 10};
  bench_begin(&b, "cores", 0, &argc, &argv);
  char *from = bench_alloc(PIECES * b.size), *to = bench_alloc(PIECES * b.size);
  for (uint64_t i = 0; i < PIECES; ++i) bench_stamp(from + i * b.size, b.size, i);
  const double seconds = b.seconds / (2 * b.samples);
  double samples[BENCH_MAX_SAMPLES];
  for (int i = 0; i < b.samples; ++i) {
    MPI_Barrier(b.control);
    double alone = 0, mine, all = 0;
    if (b.rank)
      sleep_for(seconds);
    else
      alone = copy_for(seconds, &b, to, from);
    MPI_Barrier(b.control);
    mine = copy_for(seconds, &b, to, from);
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, b.control);
    samples[i] = b.rank ? 0 : all / alone;
  }
  for (uint64_t i = 0; i < PIECES; ++i)
    if (!bench_stamped(to + i * b.size, b.size, i)) bench_wrong(&b, "copy", (long long)i, to[i * b.size]);
  bench_checked(PIECES);
  bench_report_samples(&b, samples, b.samples, "copies at once", "x");
  free(from), free(to);
  bench_end(&b);
}
