// latency: blocking ping-pong between pairs of ranks, `--threads` pairs of threads in each, all at a time.
//
// Thread i of a leading rank sends to thread i of its partner and waits for the answer; its tag is i. The value is half
// a round trip as one pair sees it. With --level single it shows what thread safety costs one thread. As in Dang 2017
// Figs. 2, 8, 10; Díaz-Martín 2014 Figs. 4, 8; Trahay 2009 Figs. 3, 5.
#include "bench.h"

typedef struct {
  bench* b;
  char** buffers;
} pingpong;

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  const pingpong* p = ctx;
  const bench* b = p->b;
  MPI_Comm comm = b->comms[thread];
  const int peer = bench_partner(b), count = (int)b->size;
  char* buffer = p->buffers[thread];
  for (long i = first; i < first + rounds; ++i) {
    const uint64_t ping = (uint64_t)(2 * i * b->threads + thread), pong = ~ping;
    if (bench_leads(b)) {
      bench_stamp(buffer, b->size, ping);
      MPI_Send(buffer, count, MPI_BYTE, peer, thread, comm);
      MPI_Recv(buffer, count, MPI_BYTE, peer, thread, comm, MPI_STATUS_IGNORE);
      if (!bench_stamped(buffer, b->size, pong)) bench_wrong(b, "answer to ping", i, *(unsigned char*)buffer);
    } else {
      MPI_Recv(buffer, count, MPI_BYTE, peer, thread, comm, MPI_STATUS_IGNORE);
      if (!bench_stamped(buffer, b->size, ping)) bench_wrong(b, "ping", i, *(unsigned char*)buffer);
      bench_stamp(buffer, b->size, pong);
      MPI_Send(buffer, count, MPI_BYTE, peer, thread, comm);
    }
  }
  bench_checked(rounds);
}

int main(int argc, char** argv) {
  bench b = {0};
  bench_begin(&b, "latency", BENCH_PAIRS, &argc, &argv);
  char* buffers[BENCH_MAX_THREADS];
  for (int i = 0; i < b.threads; ++i) buffers[i] = bench_alloc(b.size);
  pingpong p = {&b, buffers};
  bench_timing t = bench_measure(&b, rounds_of, &p, 0);
  bench_report(&b, &t, BENCH_TIME, 0.5e6, "half round trip", "us");
  bench_end(&b);
}
