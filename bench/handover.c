// handover: two ranks hand a cache line to each other through a shared window, without MPI: half a round trip of a message can't
// take less. Each has a line of its own that only it writes and that the other looks at. Ranks may be processes or threads.
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "bench.h"

enum { LINE = 128, PATIENT_LOOKS = 10000 };

typedef struct {
  bool leads;
  atomic_ullong* mine;
  atomic_ullong* theirs;
} handover;

static void await(atomic_ullong* line, unsigned long long value) {
  for (long looks = 1; atomic_load_explicit(line, memory_order_acquire) != value; ++looks)
    if (looks % PATIENT_LOOKS == 0) sched_yield();  // the other may have no core
}

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  const handover* h = ctx;
  (void)thread;
  for (unsigned long long i = (unsigned long long)first + 1; i <= (unsigned long long)(first + rounds); ++i) {
    if (!h->leads) await(h->theirs, i);
    atomic_store_explicit(h->mine, i, memory_order_release);
    if (h->leads) await(h->theirs, i);
  }
  bench_checked(rounds);
}

int main(int argc, char** argv) {
  bench b = {0};
  bench_begin(&b, "handover", 2, &argc, &argv);
  MPI_Win window;
  char* base;
  MPI_Aint size;
  int unit;
  MPI_Win_allocate_shared(b.rank ? 0 : 3 * LINE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  MPI_Win_shared_query(window, 0, &size, &unit, &base);
  char* const lines = base + (LINE - (uintptr_t)base % LINE) % LINE;
  handover h = {bench_leads(&b), (atomic_ullong*)(lines + b.rank * LINE),
                (atomic_ullong*)(lines + (1 - b.rank) * LINE)};
  atomic_store(h.mine, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  bench_timing t = bench_measure(&b, rounds_of, &h, 0);
  bench_report(&b, &t, BENCH_TIME, 0.5e6, "half round trip", "us");
  MPI_Win_free(&window);
  bench_end(&b);
}
