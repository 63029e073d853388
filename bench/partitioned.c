// partitioned: a partitioned message with --window partitions of --size bytes for each thread, in million partitions a second.
//
// In a round thread 0 starts the message, each thread of the sending rank marks its partitions ready, each thread of the receiving rank
// asks for its own until they have arrived, and thread 0 completes the message. Between these steps the threads of a rank meet.
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench.h"

typedef struct {
  bench* b;
  char* data;
  MPI_Request request;
  atomic_uint come, turn;  // of the meeting
} job;

// Every thread of the rank waits here for the others.
static void meet(job* j) {
  enum { spins = 1000 };
  const unsigned turn = atomic_load(&j->turn);
  if (atomic_fetch_add(&j->come, 1) + 1 == (unsigned)j->b->threads) {
    atomic_store(&j->come, 0);
    atomic_store(&j->turn, turn + 1);
    return;
  }
  for (int i = 0; atomic_load(&j->turn) == turn; ++i)
    if (i >= spins) sched_yield();
}

static uint64_t stamp_of(const bench* b, int partition, long round) {
  return (uint64_t)round * (uint64_t)(b->threads * b->window) + (uint64_t)partition + 1;
}

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  job* j = ctx;
  const bench* b = j->b;
  const int low = thread * b->window, high = low + b->window;
  for (long i = first; i < first + rounds; ++i) {
    if (thread == 0) MPI_Start(&j->request);
    meet(j);
    for (int p = low; p < high; ++p) {
      char* const at = j->data + (size_t)p * b->size;
      if (bench_leads(b)) {
        bench_stamp(at, b->size, stamp_of(b, p, i));
        MPI_Pready(p, j->request);
        continue;
      }
      for (int there = 0; !there;) MPI_Parrived(j->request, p, &there);
      if (!bench_stamped(at, b->size, stamp_of(b, p, i))) bench_wrong(b, "partition in round", i, p);
    }
    meet(j);
    if (thread == 0) MPI_Wait(&j->request, MPI_STATUS_IGNORE);
  }
  if (!bench_leads(b)) bench_checked(rounds * b->window);
}

int main(int argc, char** argv) {
  bench b = {.window = 64};
  bench_begin(&b, "partitioned", BENCH_PAIRS, &argc, &argv);
  const int partitions = b.threads * b.window;
  job j = {.b = &b, .data = bench_alloc((size_t)partitions * b.size)};
  if (bench_leads(&b))
    MPI_Psend_init(j.data, partitions, (MPI_Count)b.size, MPI_BYTE, bench_partner(&b), 0, b.control, MPI_INFO_NULL,
                   &j.request);
  else
    MPI_Precv_init(j.data, partitions, (MPI_Count)b.size, MPI_BYTE, bench_partner(&b), 0, b.control, MPI_INFO_NULL,
                   &j.request);
  bench_timing t = bench_measure(&b, rounds_of, &j, 0);
  bench_report(&b, &t, BENCH_RATE, 1e-6 * partitions * (b.ranks / 2), "partitions", "M/s");
  MPI_Request_free(&j.request);
  free(j.data);
  bench_end(&b);
}
