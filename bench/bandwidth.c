// bandwidth: windows of large messages from every thread of a leading rank to its twin in the partner rank, in GB/s summed over
// threads.
//
// Each place in the window has a buffer of its own on both sides; by default a window holds 64 messages or 4
// MiB, whichever is less, and at least two messages. Dang 2017 Figs. 2, 8, 10, 15; Díaz-Martín 2014 Figs.
// 5, 9.
#include "stream.h"

int main(int argc, char** argv) {
  bench b = {.size = 1 << 20};
  bench_begin(&b, "bandwidth", BENCH_PAIRS, &argc, &argv);
  if (!b.window) {
    size_t fit = ((size_t)4 << 20) / b.size;
    b.window = fit > 64 ? 64 : fit < 2 ? 2 : (int)fit;
  }
  bench_timing t = stream_measure(&b);
  bench_report(&b, &t, BENCH_RATE, 1e-9 * (double)b.size * b.window * b.threads * (b.ranks / 2), "bandwidth", "GB/s");
  bench_end(&b);
}
