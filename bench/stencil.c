// stencil: a bulk-synchronous stencil in three dimensions, in microseconds a step.
//
// The cells of a torus are spread over the ranks, a box of --scale^3 for each. In a step a rank sends the faces, edges and corners of its
// box to the 26 boxes around, waits for theirs, computes each cell from the 27 around it, and sums all cells over all ranks. It does
// nothing else meanwhile, and no rank begins the next step before every rank has computed this one. Where there are fewer than three ranks
// along an axis, several of the 26 are the same rank, or it is this one.
//
// Cells are unsigned integers, so sums do not depend on their order, and every answer is exact: rank 0 first computes the same torus alone.
// Each sum of a run is compared with its sum, and each box at the end with its box. Beside the time it tells how often the ranks' threads
// left their core a step, blocked or otherwise (a yield, or the kernel's own decision), and the processor time of a step's computing.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"

enum { STEPS = 20, AXES = 3, DIRECTIONS = 27, HERE = 13 };  // direction HERE is no neighbour; 26 - d is opposite to d

typedef uint64_t cell;

// Cells [first, end) along each axis.
typedef struct {
  size_t first[AXES], end[AXES];
} part;

typedef struct {
  bench* b;
  size_t n;                   // cells along each side of a box
  int ranks[AXES], at[AXES];  // of the torus: ranks along each axis, and where this one is
  cell *now, *next;           // the box, with a layer of the neighbours' cells around it
  cell *start, *end;          // what it is at first, and what it has to be after STEPS
  cell sums[STEPS];           // what all cells have to be together after each step
  struct {
    int rank;
    size_t cells;
    part edge, halo;  // cells that the neighbour needs (HERE: the box), and where this box has the neighbour's
    cell *out, *in;
  } neighbours[DIRECTIONS];
} stencil;

// The new value of a cell whose 27 are so much together. Not linear: cells that have changed places show in the sum of all.
static cell next_of(cell sum) { return sum ^ sum >> 7; }

static cell first_of(size_t x, size_t y, size_t z) {
  cell c = (x * 1009 + y * 10007 + z * 100003 + 1) * 0x9e3779b97f4a7c15u;
  return c ^ c >> 31;
}

static size_t side(const stencil* s) { return s->n + 2; }

// ---- The same alone ----

static size_t torus_index(const size_t* size, size_t x, size_t y, size_t z) { return (z * size[1] + y) * size[0] + x; }

static void step_alone(const size_t* size, const cell* from, cell* to) {
  for (size_t z = 0; z < size[2]; ++z)
    for (size_t y = 0; y < size[1]; ++y)
      for (size_t x = 0; x < size[0]; ++x) {
        const size_t xs[] = {x ? x - 1 : size[0] - 1, x, x + 1 < size[0] ? x + 1 : 0};
        const size_t ys[] = {y ? y - 1 : size[1] - 1, y, y + 1 < size[1] ? y + 1 : 0};
        const size_t zs[] = {z ? z - 1 : size[2] - 1, z, z + 1 < size[2] ? z + 1 : 0};
        cell sum = 0;
        for (int k = 0; k < 3; ++k)
          for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i) sum += from[torus_index(size, xs[i], ys[j], zs[k])];
        to[torus_index(size, x, y, z)] = next_of(sum);
      }
}

// The box of a rank out of the torus.
static void take_box(const stencil* s, const size_t* size, const cell* torus, int rank, cell* box) {
  const size_t across = (size_t)s->ranks[0], down = (size_t)s->ranks[1], r = (size_t)rank;
  const size_t x = r % across * s->n, y = r / across % down * s->n, z = r / across / down * s->n;
  for (size_t k = 0; k < s->n; ++k)
    for (size_t j = 0; j < s->n; ++j)
      memcpy(box + (k * s->n + j) * s->n, torus + torus_index(size, x, y + j, z + k), s->n * sizeof *box);
}

// The boxes of all ranks, one after the other.
static void take_boxes(const stencil* s, const size_t* size, const cell* torus, cell* boxes) {
  for (int r = 0; r < s->b->ranks; ++r) take_box(s, size, torus, r, boxes + (size_t)r * s->n * s->n * s->n);
}

// Rank 0 computes all; everyone gets the box that it begins with, the one that it has to end with, and the sums.
static void compute_alone(stencil* s) {
  const int box = (int)(s->n * s->n * s->n);
  const size_t all = (size_t)box * (size_t)s->b->ranks;
  size_t size[AXES];
  for (int a = 0; a < AXES; ++a) size[a] = s->n * (size_t)s->ranks[a];
  cell *torus = NULL, *spare = NULL, *boxes = NULL;
  if (!s->b->rank) {
    torus = bench_alloc(all * sizeof *torus), spare = bench_alloc(all * sizeof *spare);
    boxes = bench_alloc(all * sizeof *boxes);
    for (size_t z = 0; z < size[2]; ++z)
      for (size_t y = 0; y < size[1]; ++y)
        for (size_t x = 0; x < size[0]; ++x) torus[torus_index(size, x, y, z)] = first_of(x, y, z);
    take_boxes(s, size, torus, boxes);
  }
  MPI_Scatter(boxes, box, MPI_UINT64_T, s->start, box, MPI_UINT64_T, 0, s->b->control);
  if (!s->b->rank) {
    for (int k = 0; k < STEPS; ++k) {
      step_alone(size, torus, spare);
      cell* swap = torus;
      torus = spare, spare = swap;
      for (size_t i = 0; i < all; ++i) s->sums[k] += torus[i];
    }
    take_boxes(s, size, torus, boxes);
  }
  MPI_Scatter(boxes, box, MPI_UINT64_T, s->end, box, MPI_UINT64_T, 0, s->b->control);
  MPI_Bcast(s->sums, STEPS, MPI_UINT64_T, 0, s->b->control);
  free(torus), free(spare), free(boxes);
}

// ---- A step ----

static size_t cells_of(const part* p) {
  size_t cells = 1;
  for (int a = 0; a < AXES; ++a) cells *= p->end[a] - p->first[a];
  return cells;
}

static void find_neighbours(stencil* s) {
  const int *ranks = s->ranks, *at = s->at;
  for (int d = 0; d < DIRECTIONS; ++d) {
    const int towards[AXES] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1};
    part edge, halo;
    int there[AXES];
    for (int a = 0; a < AXES; ++a) {
      there[a] = (at[a] + towards[a] + ranks[a]) % ranks[a];
      edge.first[a] = towards[a] > 0 ? s->n : 1;
      edge.end[a] = towards[a] < 0 ? 2 : s->n + 1;
      halo.first[a] = towards[a] < 0 ? 0 : towards[a] > 0 ? s->n + 1 : 1;
      halo.end[a] = towards[a] < 0 ? 1 : towards[a] > 0 ? s->n + 2 : s->n + 1;
    }
    s->neighbours[d].rank = (there[2] * ranks[1] + there[1]) * ranks[0] + there[0];
    s->neighbours[d].edge = edge, s->neighbours[d].halo = halo;
    s->neighbours[d].cells = cells_of(&edge);
    s->neighbours[d].out = bench_alloc(cells_of(&edge) * sizeof(cell));
    s->neighbours[d].in = bench_alloc(cells_of(&halo) * sizeof(cell));
  }
}

static void leave_neighbours(stencil* s) {
  for (int d = 0; d < DIRECTIONS; ++d) free(s->neighbours[d].out), free(s->neighbours[d].in);
}

// A part of the box, line after line.
static void pack(const stencil* s, const part* p, cell* packed) {
  const size_t length = p->end[0] - p->first[0];
  for (size_t z = p->first[2]; z < p->end[2]; ++z)
    for (size_t y = p->first[1]; y < p->end[1]; ++y, packed += length)
      memcpy(packed, s->now + (z * side(s) + y) * side(s) + p->first[0], length * sizeof *packed);
}

static void unpack(const stencil* s, const part* p, const cell* packed) {
  const size_t length = p->end[0] - p->first[0];
  for (size_t z = p->first[2]; z < p->end[2]; ++z)
    for (size_t y = p->first[1]; y < p->end[1]; ++y, packed += length)
      memcpy(s->now + (z * side(s) + y) * side(s) + p->first[0], packed, length * sizeof *packed);
}

static void exchange(stencil* s) {
  MPI_Request requests[2 * (DIRECTIONS - 1)];
  int active = 0;
  for (int d = 0; d < DIRECTIONS; ++d)
    if (d != HERE)
      MPI_Irecv(s->neighbours[d].in, (int)s->neighbours[d].cells, MPI_UINT64_T, s->neighbours[d].rank,
                DIRECTIONS - 1 - d, s->b->comms[0], &requests[active++]);
  for (int d = 0; d < DIRECTIONS; ++d) {
    if (d == HERE) continue;
    pack(s, &s->neighbours[d].edge, s->neighbours[d].out);
    MPI_Isend(s->neighbours[d].out, (int)s->neighbours[d].cells, MPI_UINT64_T, s->neighbours[d].rank, d, s->b->comms[0],
              &requests[active++]);
  }
  MPI_Waitall(active, requests, MPI_STATUSES_IGNORE);
  for (int d = 0; d < DIRECTIONS; ++d)
    if (d != HERE) unpack(s, &s->neighbours[d].halo, s->neighbours[d].in);
}

// The next state of the box, and its sum.
static cell compute(stencil* s) {
  const size_t line = side(s), plane = line * line;
  cell all = 0;
  for (size_t z = 1; z <= s->n; ++z)
    for (size_t y = 1; y <= s->n; ++y) {
      const cell* from = s->now + z * plane + y * line;
      cell* to = s->next + z * plane + y * line;
      for (size_t x = 1; x <= s->n; ++x) {
        cell sum = 0;
        for (const cell* lower = from - plane; lower <= from + plane; lower += plane)
          for (const cell* row = lower - line; row <= lower + line; row += line)
            sum += row[x - 1] + row[x] + row[x + 1];
        to[x] = next_of(sum);
        all += to[x];
      }
    }
  cell* swap = s->now;
  s->now = s->next, s->next = swap;
  return all;
}

// ---- A run of STEPS ----

static void steps(void* ctx, int thread, long first, long rounds) {
  stencil* s = ctx;
  (void)thread, (void)first, (void)rounds;
  for (int k = 0; k < STEPS; ++k) {
    exchange(s);
    cell mine = compute(s), all;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, s->b->comms[0]);
    if (all != s->sums[k]) bench_wrong(s->b, "sum of all cells", (long long)s->sums[k], (long long)all);
  }
}

static void check(stencil* s) {
  const size_t cells = s->neighbours[HERE].cells;
  cell* found = s->neighbours[HERE].out;
  pack(s, &s->neighbours[HERE].edge, found);
  for (size_t i = 0; i < cells; ++i)
    if (found[i] != s->end[i]) bench_wrong(s->b, "cell", (long long)s->end[i], (long long)found[i]);
  bench_checked(STEPS + (long)cells);
}

// ---- What is told beside the time ----

// How often this thread has left its core: blocked, and otherwise.
typedef struct {
  double blocked, other;
} switches;

static switches switches_so_far(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return (switches){(double)usage.ru_nvcsw, (double)usage.ru_nivcsw};
}

static void tell_switches(const bench* b, switches mine, long all_steps) {
  switches all = {0, 0};
  MPI_Reduce(&mine, &all, 2, MPI_DOUBLE, MPI_SUM, 0, b->control);
  const double each = (double)all_steps * b->ranks;
  char json[96];
  snprintf(json, sizeof json, "{\"blocked\":%.4g,\"other\":%.4g}", all.blocked / each, all.other / each);
  bench_note("switches", json);
}

static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tell_computing(stencil* s) {
  double seconds[5];
  for (int i = 0; i < 5; ++i) {
    seconds[i] = processor_seconds();
    (void)compute(s);
    seconds[i] = processor_seconds() - seconds[i];
  }
  char json[32];
  snprintf(json, sizeof json, "%.4g", 1e6 * bench_median(seconds, 5));
  bench_note("computing", json);
}

int main(int argc, char** argv) {
  bench b = {.scale = 20};
  bench_begin(&b, "stencil", 0, &argc, &argv);
  if (b.scale > 256 || b.threads > 1) {
    if (!b.rank) fprintf(stderr, "stencil: --scale at most 256, one thread a rank\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  stencil* s = bench_alloc(sizeof *s);
  s->b = &b, s->n = (size_t)b.scale;
  MPI_Dims_create(b.ranks, AXES, s->ranks);
  s->at[0] = b.rank % s->ranks[0], s->at[1] = b.rank / s->ranks[0] % s->ranks[1];
  s->at[2] = b.rank / s->ranks[0] / s->ranks[1];
  const size_t box = s->n * s->n * s->n * sizeof(cell), around = side(s) * side(s) * side(s) * sizeof(cell);
  s->now = bench_alloc(around), s->next = bench_alloc(around), s->start = bench_alloc(box), s->end = bench_alloc(box);
  find_neighbours(s);
  compute_alone(s);

  double samples[BENCH_MAX_SAMPLES];
  switches left = {0, 0};
  long counted = 0;
  for (int k = -1; k < b.samples; ++k) {  // the first is to warm up
    double seconds = 0;
    long done = 0;
    do {
      unpack(s, &s->neighbours[HERE].edge, s->start);
      MPI_Barrier(b.control);
      const switches before = switches_so_far();
      seconds += bench_together(steps, s, 1);
      const switches after = switches_so_far();
      done += STEPS;
      if (k >= 0)
        left.blocked += after.blocked - before.blocked, left.other += after.other - before.other, counted += STEPS;
      check(s);
    } while (!bench_enough(&b, seconds));
    if (k >= 0) samples[k] = 1e6 * seconds / (double)done;
  }
  tell_switches(&b, left, counted);
  tell_computing(s);
  char answer[32];
  snprintf(answer, sizeof answer, "\"%016llx\"", (unsigned long long)s->sums[STEPS - 1]);
  bench_note("answer", answer);
  bench_report_samples(&b, samples, b.samples, "time of a step", "us");
  leave_neighbours(s);
  free(s->now), free(s->next), free(s->start), free(s->end), free(s);
  bench_end(&b);
}
