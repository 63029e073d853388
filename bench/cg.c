// cg: a conjugate-gradient solver on a 27-point stencil, after the Mantevo mini-application HPCCG, in microseconds an iteration.
//
// A rank owns a box of --scale^3 rows of the sparse matrix (27 on the diagonal, -1 for each neighbour), the boxes stacked
// along z. Threads that communicate, as in Dang 2017, Fig. 17: each owns a share of the box's y-lines and swaps its part of
// the top and bottom plane with its twin in the rank above and below; sums go over the threads in shared memory and then
// over the ranks. The right-hand side makes the solution all ones, which is checked; all runs must need as many iterations.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { NEIGHBOURS = 27, MAX_ITERATIONS = 500 };
static const double tolerance = 1e-9;

typedef struct {
  bench* b;
  int n;                         // rows along each side of the box
  size_t plane, rows;            // rows of a plane, of the box
  double* value;                 // NEIGHBOURS per row, 0 where there is no neighbour
  int* column;                   // into a vector with a halo plane below and above
  double *x, *r, *p, *ap, *rhs;  // p has the halo planes
  _Alignas(64) double partial[BENCH_MAX_THREADS];
  double sum;  // the last reduction, for all threads
  pthread_barrier_t gate;
  int iterations;
} solver;

typedef struct {
  size_t from, to;  // rows along y, within each plane
} share;

static share share_of(const solver* s, int thread) {
  const size_t n = (size_t)s->n, t = (size_t)s->b->threads;
  return (share){n * (size_t)thread / t, n * ((size_t)thread + 1) / t};
}

// True if a plane lies below (side -1) or above (+1) this rank's box.
static bool has_neighbour(const bench* b, int side) { return b->rank + side >= 0 && b->rank + side < b->ranks; }

static void make_matrix(solver* s) {
  const int n = s->n;
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        const size_t row = ((size_t)z * (size_t)n + (size_t)y) * (size_t)n + (size_t)x;
        int k = 0, present = 0;
        for (int dz = -1; dz <= 1; ++dz)
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx, ++k) {
              const bool inside = x + dx >= 0 && x + dx < n && y + dy >= 0 && y + dy < n &&
                                  ((z + dz >= 0 && z + dz < n) || has_neighbour(s->b, z + dz < 0 ? -1 : 1));
              const size_t at = ((size_t)(z + dz + 1) * (size_t)n + (size_t)(y + (inside ? dy : 0))) * (size_t)n +
                                (size_t)(x + (inside ? dx : 0));
              s->column[row * NEIGHBOURS + (size_t)k] = inside ? (int)at : (int)(row + s->plane);
              s->value[row * NEIGHBOURS + (size_t)k] = !inside ? 0 : dx || dy || dz ? -1 : NEIGHBOURS;
              present += inside;
            }
        s->rhs[row] = NEIGHBOURS - (present - 1);
      }
}

static void wait_for_all(solver* s) {
  if (s->b->threads > 1) pthread_barrier_wait(&s->gate);
}

// The sum of what each thread of each rank contributes; threads in a fixed order.
static double reduce(solver* s, int thread, double mine) {
  s->partial[thread] = mine;
  wait_for_all(s);
  if (!thread) {
    double local = 0;
    for (int t = 0; t < s->b->threads; ++t) local += s->partial[t];
    MPI_Allreduce(&local, &s->sum, 1, MPI_DOUBLE, MPI_SUM, s->b->control);
  }
  wait_for_all(s);
  return s->sum;
}

// This thread's lines of the lowest and highest plane for those of the ranks below and above.
static void swap_halo(solver* s, int thread, share mine) {
  const bench* b = s->b;
  const size_t n = (size_t)s->n, at = mine.from * n;
  const int count = (int)((mine.to - mine.from) * n);
  MPI_Request requests[4];
  int active = 0;
  for (int side = -1; side <= 1; side += 2) {
    if (!has_neighbour(b, side)) continue;
    double* halo = s->p + (side < 0 ? 0 : s->plane * (n + 1)) + at;
    double* edge = s->p + (side < 0 ? s->plane : s->plane * n) + at;
    MPI_Irecv(halo, count, MPI_DOUBLE, b->rank + side, thread, b->comms[thread], &requests[active++]);
    MPI_Isend(edge, count, MPI_DOUBLE, b->rank + side, thread, b->comms[thread], &requests[active++]);
  }
  MPI_Waitall(active, requests, MPI_STATUSES_IGNORE);
}

// Calls `body` for each row of this thread's share.
#define FOR_ROWS(row)                          \
  for (size_t z_ = 0; z_ < (size_t)s->n; ++z_) \
    for (size_t row = z_ * s->plane + mine.from * (size_t)s->n; row < z_ * s->plane + mine.to * (size_t)s->n; ++row)

static void solve(void* ctx, int thread, long first, long rounds) {
  solver* s = ctx;
  const share mine = share_of(s, thread);
  double* p = s->p + s->plane;
  (void)first, (void)rounds;
  double mine_rr = 0;
  FOR_ROWS(i) {
    s->x[i] = 0;
    s->r[i] = p[i] = s->rhs[i];
    mine_rr += s->r[i] * s->r[i];
  }
  double rr = reduce(s, thread, mine_rr);
  const double enough = tolerance * sqrt(rr);
  int k = 0;
  for (; k < MAX_ITERATIONS && sqrt(rr) > enough; ++k) {
    swap_halo(s, thread, mine);
    wait_for_all(s);  // the stencil reads lines of the other threads' shares
    double mine_pap = 0;
    FOR_ROWS(i) {
      double sum = 0;
      const double* value = s->value + i * NEIGHBOURS;
      const int* column = s->column + i * NEIGHBOURS;
      for (int j = 0; j < NEIGHBOURS; ++j) sum += value[j] * s->p[column[j]];
      s->ap[i] = sum;
      mine_pap += p[i] * sum;
    }
    const double alpha = rr / reduce(s, thread, mine_pap);
    mine_rr = 0;
    FOR_ROWS(i) {
      s->x[i] += alpha * p[i];
      s->r[i] -= alpha * s->ap[i];
      mine_rr += s->r[i] * s->r[i];
    }
    const double before = rr;
    rr = reduce(s, thread, mine_rr);
    const double beta = rr / before;
    FOR_ROWS(i) p[i] = s->r[i] + beta * p[i];
    // p is complete before anyone sends of it or reads it: each sends its own lines, and swap_halo is followed by a wait.
  }
  if (!thread) s->iterations = k;
}

static void check(solver* s) {
  for (size_t i = 0; i < s->rows; ++i)
    if (!(fabs(s->x[i] - 1) < 1e-6))
      bench_wrong(s->b, "solution is one; millionths", 1000000, (long long)(1e6 * s->x[i]));
  bench_checked((long)s->rows);
}

int main(int argc, char** argv) {
  bench b = {.scale = 24};
  bench_begin(&b, "cg", 0, &argc, &argv);
  if (b.scale > 256 || b.threads > b.scale) {
    if (!b.rank) fprintf(stderr, "cg: --scale at most 256, and not less than --threads\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  solver* s = bench_alloc(sizeof *s);
  const size_t n = (size_t)b.scale, vector = n * n * n * sizeof(double);
  s->b = &b, s->n = (int)n, s->plane = n * n, s->rows = n * n * n;
  s->value = bench_alloc(s->rows * NEIGHBOURS * sizeof *s->value);
  s->column = bench_alloc(s->rows * NEIGHBOURS * sizeof *s->column);
  s->x = bench_alloc(vector), s->r = bench_alloc(vector), s->ap = bench_alloc(vector), s->rhs = bench_alloc(vector);
  s->p = bench_alloc(vector + 2 * s->plane * sizeof(double));
  pthread_barrier_init(&s->gate, NULL, (unsigned)b.threads);
  make_matrix(s);

  double samples[BENCH_MAX_SAMPLES];
  for (int k = -1; k < b.samples; ++k) {  // the first is to warm up: threads take some time to spread over the cores
    double seconds = 0;
    long iterations = 0;
    do {
      MPI_Barrier(b.control);
      seconds += bench_together(solve, s, 1);
      iterations += s->iterations;
      check(s);
    } while (!bench_enough(&b, seconds));
    if (k >= 0) samples[k] = 1e6 * seconds / (double)iterations;
  }
  char answer[32];
  snprintf(answer, sizeof answer, "%d", s->iterations);
  bench_note("answer", answer);
  bench_report_samples(&b, samples, b.samples, "time of an iteration", "us");
  pthread_barrier_destroy(&s->gate);
  free(s->value), free(s->column), free(s->x), free(s->r), free(s->ap), free(s->rhs), free(s->p), free(s);
  bench_end(&b);
}
