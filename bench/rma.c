// rma: one-sided transfers from every thread of a leading rank into (or out of) its partner's window, after RMA-MT. `--mode
// put|get`: GB/s summed over threads; `--mode latency`: microseconds of one put and its flush; `--mode spinning`: the same while as many
// threads of the partner spin, as those of a program do that has a barrier of its own.
//
// A round of a thread is --window transfers (one, for the latency) of --size bytes, each to its own place, and one
// MPI_Win_flush. All threads share one window that is locked once (lock_all). Puts are checked in the partner's memory, gets
// where they arrive. Evans 2020, Figs. 7 to 10.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct {
  bench* b;
  MPI_Win window;
  char *exposed, *local;
  long* last;  // per thread: the last round, for the check
  bool get, spinning;
} job;

static uint64_t stamp_of(const bench* b, int thread, long round, int k) {
  return ((uint64_t)round * (uint64_t)b->window + (uint64_t)k) * (uint64_t)b->threads + (uint64_t)thread + 1;
}

// Threads share no cache line.
static size_t place(const bench* b, int thread, int k) {
  enum { line = 64 };
  const size_t of_thread = ((size_t)b->window * b->size + line - 1) / line * line;
  return (size_t)thread * of_thread + (size_t)k * b->size;
}

// Looks at its own memory until the last put of a round is there. Some libraries need a call now and then.
static void spin_until(const job* j, const char* at, uint64_t stamp) {
  enum { looks_per_call = 1 << 16 };
  for (long looks = 1; !bench_stamped(at, j->b->size, stamp); ++looks) {
    atomic_signal_fence(memory_order_seq_cst);
    int flag;
    if (looks % looks_per_call == 0) MPI_Iprobe(MPI_ANY_SOURCE, 0, j->b->control, &flag, MPI_STATUS_IGNORE);
  }
}

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  job* j = ctx;
  const bench* b = j->b;
  if (!bench_leads(b)) {
    if (j->spinning) spin_until(j, j->exposed + place(b, thread, 0), stamp_of(b, thread, first + rounds - 1, 0));
    return;
  }
  const int partner = bench_partner(b), count = (int)b->size;
  for (long i = first; i < first + rounds; ++i) {
    for (int k = 0; k < b->window; ++k) {
      const size_t at = place(b, thread, k);
      if (j->get) {
        MPI_Get(j->local + at, count, MPI_BYTE, partner, (MPI_Aint)at, count, MPI_BYTE, j->window);
      } else {
        bench_stamp(j->local + at, b->size, stamp_of(b, thread, i, k));
        MPI_Put(j->local + at, count, MPI_BYTE, partner, (MPI_Aint)at, count, MPI_BYTE, j->window);
      }
    }
    MPI_Win_flush(partner, j->window);
    if (!j->get) continue;
    for (int k = 0; k < b->window; ++k)
      if (!bench_stamped(j->local + place(b, thread, k), b->size, stamp_of(b, thread, 0, k)))
        bench_wrong(b, "what was got in round", i, k);
  }
  if (j->get) bench_checked(rounds * b->window);
  j->last[thread] = first + rounds - 1;
}

// The contents of the partner's memory after the last puts.
static void check_puts(job* j) {
  const bench* b = j->b;
  const int partner = bench_partner(b);
  if (bench_leads(b)) {
    MPI_Send(j->last, b->threads, MPI_LONG, partner, 0, b->control);
    return;
  }
  MPI_Recv(j->last, b->threads, MPI_LONG, partner, 0, b->control, MPI_STATUS_IGNORE);
  MPI_Win_sync(j->window);
  for (int t = 0; t < b->threads; ++t)
    for (int k = 0; k < b->window; ++k)
      if (!bench_stamped(j->exposed + place(b, t, k), b->size, stamp_of(b, t, j->last[t], k)))
        bench_wrong(b, "what was put by thread", t, k);
  bench_checked((long)b->threads * b->window);
}

int main(int argc, char** argv) {
  bench b = {.mode = "put", .size = 1 << 16, .window = 16};
  bench_begin(&b, "rma", BENCH_PAIRS, &argc, &argv);
  job j = {.b = &b, .get = !strcmp(b.mode, "get")};
  j.spinning = !strcmp(b.mode, "spinning");
  const bool latency = j.spinning || !strcmp(b.mode, "latency");
  if (!j.get && !latency && strcmp(b.mode, "put")) {
    if (!b.rank) fprintf(stderr, "rma: --mode put|get|latency|spinning\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (latency) b.window = 1;
  const size_t bytes = place(&b, b.threads, 0);
  j.local = bench_alloc(bytes), j.last = bench_alloc((size_t)b.threads * sizeof *j.last);
  if (MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, b.control, &j.exposed, &j.window)) {
    fprintf(stderr, "rma: this MPI has no windows\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  memset(j.exposed, 0, bytes);
  for (int t = 0; t < b.threads; ++t)
    for (int k = 0; k < b.window; ++k) bench_stamp(j.exposed + place(&b, t, k), b.size, stamp_of(&b, t, 0, k));
  MPI_Win_lock_all(0, j.window);
  MPI_Win_sync(j.window);
  MPI_Barrier(b.control);
  bench_timing t = bench_measure(&b, rounds_of, &j, 0);
  MPI_Barrier(b.control);
  if (!j.get) check_puts(&j);
  MPI_Win_unlock_all(j.window);
  if (latency) {
    bench_report(&b, &t, BENCH_TIME, 1e6, "put and flush", "us");
  } else {
    bench_report(&b, &t, BENCH_RATE, 1e-9 * (double)b.size * b.window * b.threads * (b.ranks / 2), b.mode, "GB/s");
  }
  MPI_Win_free(&j.window);
  free(j.local), free(j.last);
  bench_end(&b);
}
