// message-rate: windows of small messages from every thread of a leading rank to its twin in the partner rank.
//
// `--window` Isend against as many Irecv, one Waitall each, an empty answer per window. The value is the sum
// over all threads in million messages a second. Dang 2017 Figs. 2, 8, 10, 14, 15; Amer 2019 Figs. 5, 6.
//
// --mode one-tag: all threads use one tag, so that a message goes to whichever thread has posted first.
#include <stdio.h>
#include <string.h>

#include "stream.h"

int main(int argc, char** argv) {
  bench b = {.window = 64, .mode = "tags"};
  bench_begin(&b, "message-rate", BENCH_PAIRS, &argc, &argv);
  const bool one_tag = !strcmp(b.mode, "one-tag");
  if (one_tag ? b.size < sizeof(uint64_t) : strcmp(b.mode, "tags") != 0) {
    if (!b.rank) fprintf(stderr, "message-rate: --mode tags|one-tag, the latter with at least 8 bytes\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  bench_timing t = one_tag ? stream_measure_one_tag(&b) : stream_measure(&b);
  bench_report(&b, &t, BENCH_RATE, 1e-6 * b.window * b.threads * (b.ranks / 2), "message rate", "M/s");
  bench_end(&b);
}
