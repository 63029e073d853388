#include "stream.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  bench* b;
  char** buffers;  // per thread: one message slot for each place in the window
  bool one_tag;    // for the messages of all threads; the answers have others
} stream;

enum { shared_tag = 0, first_answer = 1 };

static uint64_t stamp_of(const bench* b, int thread, long round, int k) {
  return ((uint64_t)round * (uint64_t)b->window + (uint64_t)k) * (uint64_t)b->threads + (uint64_t)thread;
}

static void send_rounds(void* ctx, int thread, long first, long rounds) {
  const stream* s = ctx;
  const bench* b = s->b;
  MPI_Comm comm = b->comms[thread];
  const int partner = bench_partner(b);
  const int tag = s->one_tag ? shared_tag : thread, answer = s->one_tag ? first_answer + thread : thread;
  MPI_Request requests[b->window];
  for (long i = first; i < first + rounds; ++i) {
    for (int k = 0; k < b->window; ++k) {
      char* slot = s->buffers[thread] + (size_t)k * b->size;
      bench_stamp(slot, b->size, stamp_of(b, thread, i, k));
      MPI_Isend(slot, (int)b->size, MPI_BYTE, partner, tag, comm, &requests[k]);
    }
    MPI_Waitall(b->window, requests, MPI_STATUSES_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, partner, answer, comm, MPI_STATUS_IGNORE);
  }
}

static void receive_rounds(void* ctx, int thread, long first, long rounds) {
  const stream* s = ctx;
  const bench* b = s->b;
  MPI_Comm comm = b->comms[thread];
  const int partner = bench_partner(b);
  MPI_Request requests[b->window];
  for (long i = first; i < first + rounds; ++i) {
    for (int k = 0; k < b->window; ++k)
      MPI_Irecv(s->buffers[thread] + (size_t)k * b->size, (int)b->size, MPI_BYTE, partner, thread, comm, &requests[k]);
    MPI_Waitall(b->window, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < b->window; ++k)
      if (!bench_stamped(s->buffers[thread] + (size_t)k * b->size, b->size, stamp_of(b, thread, i, k)))
        bench_wrong(b, "message of window", i, k);
    MPI_Send(NULL, 0, MPI_BYTE, partner, thread, comm);
  }
  bench_checked(rounds * b->window);
}

// A window of receives is posted at any time. They are waited for in their order, which is the order in which they match, so that no thread
// keeps the answer to a window that others wait for.
static void receive_rounds_one_tag(void* ctx, int thread, long first, long rounds) {
  const stream* s = ctx;
  const bench* b = s->b;
  MPI_Comm comm = b->comms[thread];
  const int partner = bench_partner(b);
  const long all = rounds * b->window;
  (void)first;
  MPI_Request requests[b->window];
  for (long i = 0; i < all + b->window; ++i) {
    const long k = i % b->window;
    char* slot = s->buffers[thread] + (size_t)k * b->size;
    if (i >= b->window) {
      uint64_t stamp;
      MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
      memcpy(&stamp, slot, sizeof stamp);
      if (!bench_stamped(slot, b->size, stamp)) bench_wrong(b, "message", i, (long long)stamp);
      const uint64_t message = stamp / (uint64_t)b->threads;  // of its thread
      if (message % (uint64_t)b->window == (uint64_t)b->window - 1)
        MPI_Send(NULL, 0, MPI_BYTE, partner, first_answer + (int)(stamp % (uint64_t)b->threads), comm);
    }
    if (i < all) MPI_Irecv(slot, (int)b->size, MPI_BYTE, partner, shared_tag, comm, &requests[k]);
  }
  bench_checked(all);
}

// The body of a message between its stamps, checked once over the whole length.
static void fill(const bench* b, char* p, int thread) {
  for (size_t i = 0; i < (size_t)b->window * b->size; ++i) p[i] = (char)(i * 131 + (size_t)thread);
}

static void check_fill(const bench* b, const char* p, int thread) {
  const size_t edge = sizeof(uint64_t);
  for (int k = 0; k < b->window && b->size > 2 * edge; ++k)
    for (size_t j = edge; j < b->size - edge; ++j) {
      size_t i = (size_t)k * b->size + j;
      if (p[i] != (char)(i * 131 + (size_t)thread)) bench_wrong(b, "byte of message", (char)(i * 131), p[i]);
    }
}

static bench_timing measure(bench* b, bool one_tag) {
  char** buffers = bench_alloc((size_t)b->threads * sizeof *buffers);
  for (int i = 0; i < b->threads; ++i) {
    buffers[i] = bench_alloc((size_t)b->window * b->size);
    if (bench_leads(b)) fill(b, buffers[i], i);
  }
  stream s = {b, buffers, one_tag};
  const bench_body receive = one_tag ? receive_rounds_one_tag : receive_rounds;
  bench_timing t = bench_measure(b, bench_leads(b) ? send_rounds : receive, &s, 0);
  for (int i = 0; i < b->threads; ++i) {
    if (!bench_leads(b)) check_fill(b, buffers[i], i);
    free(buffers[i]);
  }
  free(buffers);
  return t;
}

bench_timing stream_measure(bench* b) { return measure(b, false); }

bench_timing stream_measure_one_tag(bench* b) { return measure(b, true); }
