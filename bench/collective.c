// collective: one blocking collective over all ranks, in microseconds a call. `--mode barrier|bcast|allreduce|allgather|alltoall|
// reduce-scatter|gather|scatter|scan`.
//
// With several threads a rank each thread calls it on a communicator of its own, and the value is the time of
// one call as one thread sees it. barrier: no rank may leave before the last has entered, shown by the
// machine-wide clock. The others move `--size` bytes of doubles: the vector of a bcast or a sum, or one block where each rank has one for
// each other, or one of them has (bcast, gather and scatter: each in turn). Some elements are new in each call and checked in each; all are checked before the first.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { MOST_BYTES = 8 << 20 };

typedef enum { BARRIER, BCAST, ALLREDUCE, ALLGATHER, ALLTOALL, REDUCE_SCATTER, GATHER, SCATTER, SCAN, MODES } mode;
static const char* const mode_names[MODES] = {"barrier",        "bcast",  "allreduce", "allgather", "alltoall",
                                              "reduce-scatter", "gather", "scatter",   "scan"};

typedef struct {
  const bench* b;
  mode mode;
  int count;           // doubles of a vector or block
  double **in, **out;  // by thread
} job;

static int in_blocks(const job* j) {
  return j->mode == ALLTOALL || j->mode == REDUCE_SCATTER || j->mode == SCATTER ? j->b->ranks : 1;
}
static int out_blocks(const job* j) {
  return j->mode == ALLTOALL || j->mode == ALLGATHER || j->mode == GATHER ? j->b->ranks : 1;
}
static bool has_root(const job* j) { return j->mode == BCAST || j->mode == GATHER || j->mode == SCATTER; }
// True if this rank receives data.
static bool receives(const job* j, int root) {
  if (j->mode == BCAST) return j->b->rank != root;
  return j->mode != GATHER || j->b->rank == root;
}

// The value that rank `from` sends to rank `to` in round i, element k; small integers, so that sums are exact.
static double given(int from, int to, long i, int k) { return (double)(1 + from + 3 * to + k % 1000 + i % 1000); }

static double wanted(const job* j, int block, int root, long i, int k) {
  const int ranks = j->b->ranks, rank = j->b->rank;
  switch (j->mode) {
    case BCAST:
      return given(root, 0, i, k);
    case SCATTER:
      return given(root, rank, i, k);
    case ALLREDUCE:
      return ranks * given(0, 0, i, k) + ranks * (ranks - 1) / 2;
    case REDUCE_SCATTER:
      return ranks * given(0, rank, i, k) + ranks * (ranks - 1) / 2;
    case SCAN:
      return (rank + 1) * given(0, 0, i, k) + rank * (rank + 1) / 2;
    default:
      return given(block, j->mode == ALLTOALL ? rank : 0, i, k);
  }
}

// The elements that are new in each round: the first, one in the middle, the last.
static int new_element(const job* j, int n) { return n == 0 ? 0 : n == 1 ? j->count / 2 : j->count - 1; }

static void put(const job* j, double* in, long i, int k) {
  for (int to = 0; to < in_blocks(j); ++to) in[(size_t)to * (size_t)j->count + (size_t)k] = given(j->b->rank, to, i, k);
}

static void expect(const job* j, const double* out, int root, long i, int k) {
  for (int from = 0; from < out_blocks(j); ++from) {
    const double found = out[(size_t)from * (size_t)j->count + (size_t)k], right = wanted(j, from, root, i, k);
    if (found != right) bench_wrong(j->b, mode_names[j->mode], (long long)right, (long long)found);
  }
}

static void call(const job* j, int thread, int root) {
  double *in = j->in[thread], *out = j->out[thread];
  MPI_Comm comm = j->b->comms[thread];
  switch (j->mode) {
    case BARRIER:
    case MODES:
      MPI_Barrier(comm);
      break;
    case BCAST:
      MPI_Bcast(j->b->rank == root ? in : out, j->count, MPI_DOUBLE, root, comm);
      break;
    case ALLREDUCE:
      MPI_Allreduce(in, out, j->count, MPI_DOUBLE, MPI_SUM, comm);
      break;
    case ALLGATHER:
      MPI_Allgather(in, j->count, MPI_DOUBLE, out, j->count, MPI_DOUBLE, comm);
      break;
    case ALLTOALL:
      MPI_Alltoall(in, j->count, MPI_DOUBLE, out, j->count, MPI_DOUBLE, comm);
      break;
    case REDUCE_SCATTER:
      MPI_Reduce_scatter_block(in, out, j->count, MPI_DOUBLE, MPI_SUM, comm);
      break;
    case GATHER:
      MPI_Gather(in, j->count, MPI_DOUBLE, out, j->count, MPI_DOUBLE, root, comm);
      break;
    case SCATTER:
      MPI_Scatter(in, j->count, MPI_DOUBLE, out, j->count, MPI_DOUBLE, root, comm);
      break;
    case SCAN:
      MPI_Scan(in, out, j->count, MPI_DOUBLE, MPI_SUM, comm);
      break;
  }
}

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  const job* j = ctx;
  if (j->mode == BARRIER) {
    for (long i = 0; i < rounds; ++i) MPI_Barrier(j->b->comms[thread]);
    return;
  }
  for (long i = first; i < first + rounds; ++i) {
    const int root = has_root(j) ? (int)(i % j->b->ranks) : 0;
    for (int n = 0; n < 3; ++n) put(j, j->in[thread], i, new_element(j, n));
    call(j, thread, root);
    if (!receives(j, root)) continue;
    for (int n = 0; n < 3; ++n) expect(j, j->out[thread], root, i, new_element(j, n));
  }
  bench_checked(rounds);
}

// One call all of whose elements are new and checked, on every thread's communicator.
static void check_all(const job* j) {
  for (int t = 0; t < j->b->threads; ++t) {
    for (int root = 0; root < (has_root(j) ? j->b->ranks : 1); ++root) {
      for (int k = 0; k < j->count; ++k) put(j, j->in[t], root, k);
      call(j, t, root);
      if (!receives(j, root)) continue;
      for (int k = 0; k < j->count; ++k) expect(j, j->out[t], root, root, k);
      bench_checked(1);
    }
  }
}

// Each rank in turn comes late; each notes when it entered and left.
static void check_barrier(bench* b) {
  for (int late = 0; late < b->ranks; ++late) {
    if (b->rank == late) {
      double until = bench_now() + 0.002;
      while (bench_now() < until) {
      }
    }
    double entered = bench_now(), last_in, first_out;
    MPI_Barrier(b->comms[0]);
    double left = bench_now();
    MPI_Allreduce(&entered, &last_in, 1, MPI_DOUBLE, MPI_MAX, b->control);
    MPI_Allreduce(&left, &first_out, 1, MPI_DOUBLE, MPI_MIN, b->control);
    if (first_out < last_in)
      bench_wrong(b, "ns between last entry and first exit", 0, (long long)(1e9 * (first_out - last_in)));
    bench_checked(1);
  }
}

int main(int argc, char** argv) {
  bench b = {.mode = "barrier", .comm_each = true};
  bench_begin(&b, "collective", 0, &argc, &argv);
  job j = {.b = &b};
  while (j.mode < MODES && strcmp(b.mode, mode_names[j.mode])) ++j.mode;
  if (j.mode == MODES || b.size < sizeof(double) || b.size % sizeof(double) || b.size > MOST_BYTES ||
      (b.threads > 1 && !b.comm_each)) {
    if (!b.rank)
      fprintf(stderr,
              "collective: --mode barrier|bcast|allreduce|allgather|alltoall|reduce-scatter|gather|scatter|scan, "
              "--size 8 to 8388608 in doubles, --comm each\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  j.count = (int)(b.size / sizeof(double));
  double *in[BENCH_MAX_THREADS], *out[BENCH_MAX_THREADS];
  j.in = in, j.out = out;
  for (int t = 0; t < b.threads; ++t) {
    in[t] = bench_alloc(b.size * (size_t)in_blocks(&j));
    out[t] = bench_alloc(b.size * (size_t)out_blocks(&j));
  }
  if (j.mode == BARRIER) check_barrier(&b);
  if (j.mode != BARRIER) check_all(&j);
  bench_timing t = bench_measure(&b, rounds_of, &j, 0);
  bench_report(&b, &t, BENCH_TIME, 1e6, b.mode, "us");
  for (int i = 0; i < b.threads; ++i) free(in[i]), free(out[i]);
  bench_end(&b);
}
