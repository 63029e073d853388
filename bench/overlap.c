// overlap: how much of a large exchange happens while the program computes, in percent. After Thakur and Gropp's tests, and
// Trahay 2009, Fig. 9.
//
// Two ranks exchange --size bytes (1 MiB) with Isend/Irecv, compute as long as the exchange takes alone, and wait. 100%: both
// together take as long as one; 0%: as long as both in turn. With `--mode receive` only one rank of a pair computes, and receives
// one message: its partner sends it, waits, and so leaves a core idle. It computes four times as long as the transfer takes,
// since that takes longer by one core than by two: 100%, the transfer costs no time; 0%: as much as without computing. With `--mode blocked` another thread of each rank is blocked in a
// receive meanwhile, so that a thread is in the library to make progress.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct {
  bench* b;
  char *out, *in;
  bool sends, receives;
  bool communicate;
  double compute;  // seconds to compute between post and wait
  long done;       // exchanges so far, for the stamps
} job;

static volatile double sink;

static void compute(double seconds) {
  double x = 1.0;
  for (double until = bench_now() + seconds; bench_now() < until;)
    for (int i = 0; i < 200; ++i) x = x * 1.0000001 + 1e-9;
  sink = x;
}

static void exchange(job* j, long rounds) {
  const bench* b = j->b;
  const int peer = bench_partner(b), count = (int)b->size;
  for (long i = 0; i < rounds; ++i) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    const uint64_t stamp = (uint64_t)j->done++;
    if (j->communicate) {
      bench_stamp(j->out, b->size, stamp);
      if (j->receives) MPI_Irecv(j->in, count, MPI_BYTE, peer, 0, b->comms[0], &requests[0]);
      if (j->sends) MPI_Isend(j->out, count, MPI_BYTE, peer, 0, b->comms[0], &requests[1]);
    }
    if (j->compute > 0) compute(j->compute);
    if (j->communicate) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      if (j->receives && !bench_stamped(j->in, b->size, stamp)) bench_wrong(b, "exchange", (long long)stamp, j->in[0]);
    }
  }
  bench_checked(rounds);
}

// Thread 1, if there is one, waits for the word that its own thread 0 sends when it is done.
static void rounds_of(void* ctx, int thread, long first, long rounds) {
  job* j = ctx;
  const bench* b = j->b;
  (void)first;
  if (thread) {
    MPI_Recv(NULL, 0, MPI_BYTE, b->rank, 1, b->comms[0], MPI_STATUS_IGNORE);
    return;
  }
  exchange(j, rounds);
  if (b->threads > 1) MPI_Send(NULL, 0, MPI_BYTE, b->rank, 1, b->comms[0]);
}

static double per_round(const bench_timing* t, int sample) { return t->elapsed[sample] / (double)t->rounds; }

int main(int argc, char** argv) {
  bench b = {.size = 1 << 20, .mode = "plain"};
  bench_begin(&b, "overlap", BENCH_PAIRS, &argc, &argv);
  const bool one_way = !strcmp(b.mode, "receive"), blocked = !strcmp(b.mode, "blocked");
  if (b.threads != (blocked ? 2 : 1) || (!one_way && !blocked && strcmp(b.mode, "plain"))) {
    if (!b.rank) fprintf(stderr, "overlap: --mode plain or receive with one thread, --mode blocked with two\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  job j = {.b = &b,
           .out = bench_alloc(b.size),
           .in = bench_alloc(b.size),
           .sends = !one_way || !bench_leads(&b),
           .receives = !one_way || bench_leads(&b),
           .communicate = true};
  bench_timing alone = bench_measure(&b, rounds_of, &j, 0);
  double sorted[BENCH_MAX_SAMPLES];
  for (int i = 0; i < alone.count; ++i) sorted[i] = per_round(&alone, i);
  double transfer = b.rank ? 0 : bench_median(sorted, alone.count);
  MPI_Bcast(&transfer, 1, MPI_DOUBLE, 0, b.control);
  const double computed = one_way ? 4 * transfer : transfer;
  j.compute = one_way && !bench_leads(&b) ? 0 : computed;
  bench_timing both = bench_measure(&b, rounds_of, &j, 0);
  double samples[BENCH_MAX_SAMPLES];
  for (int i = 0; i < both.count; ++i) samples[i] = 100 * (transfer + computed - per_round(&both, i)) / transfer;
  char text[32];
  snprintf(text, sizeof text, "%.3f", 1e6 * transfer);
  bench_note("exchange_us", text);
  bench_report_samples(&b, samples, both.count, "overlap", "%");
  free(j.out), free(j.in);
  bench_end(&b);
}
