// message-rate: windows of small messages from every thread of a leading rank to its twin in the partner rank.
//
// `--window` Isend against as many Irecv, one Waitall each, an empty answer per window. The value is the sum
// over all threads in million messages a second. Dang 2017 Figs. 2, 8, 10, 14, 15; Amer 2019 Figs. 5, 6.
#include "stream.h"

int main(int argc, char** argv) {
  bench b = {.window = 64};
  bench_begin(&b, "message-rate", BENCH_PAIRS, &argc, &argv);
  bench_timing t = stream_measure(&b);
  bench_report(&b, &t, BENCH_RATE, 1e-6 * b.window * b.threads * (b.ranks / 2), "message rate", "M/s");
  bench_end(&b);
}
