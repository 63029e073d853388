// sweep: a discrete-ordinates transport sweep with the communication pattern of SNAP, in milliseconds a sweep.
//
// The grid is --scale cells along x and 8 along y and z in each rank; ranks form a grid over y and z (KBA). In each of the
// eight octants a wavefront enters at one corner: a rank waits for the faces of its upstream neighbours, sweeps a
// block of x-planes for all angles, and passes its own faces on. Energy groups are independent, so each thread sweeps its groups
// and does its own blocking sends and receives (Amer 2019, Fig. 8). Each cell takes psi from its three upstream sides by a fixed
// formula, so the flux is the same to the last bit for any ranks and threads: it is compared with a sweep of the whole
// grid in one piece, and its checksum is the answer that all runs must share.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { CELLS = 8, ANGLES = 6, GROUPS = 16, BLOCK = 4, OCTANTS = 8 };

typedef struct {
  int nx, ny, nz;  // cells of this piece
  int y0, z0;      // its place in the whole grid
  int total_y, total_z;
  int row, column, rows, columns;  // this rank in the grid of ranks: row along y, column along z
} piece;

typedef struct {
  bench* b;
  piece own;
  double* flux[GROUPS];
} transport;

static double source(int group, int x, int y, int z) {
  return 1.0 + (double)((7 * x + 11 * y + 13 * z + group) % 17) / 16;
}

// Sweeps planes [from, from+BLOCK) in sweep order. `side_y`, `side_z` come with the upstream faces and leave with the
// downstream ones; `side_x` is carried from block to block.
static void sweep_block(const piece* p, int octant, int group, int from, double* side_x, double* side_y, double* side_z,
                        double* flux) {
  const int nx = p->nx, ny = p->ny, nz = p->nz;
  for (int i = from; i < from + BLOCK; ++i) {
    const int x = octant & 1 ? nx - 1 - i : i;
    for (int j = 0; j < ny; ++j) {
      const int y = octant & 2 ? ny - 1 - j : j;
      for (int k = 0; k < nz; ++k) {
        const int z = octant & 4 ? nz - 1 - k : k;
        double* in_x = side_x + ((size_t)y * (size_t)nz + (size_t)z) * ANGLES;
        double* in_y = side_y + ((size_t)(i - from) * (size_t)nz + (size_t)z) * ANGLES;
        double* in_z = side_z + ((size_t)(i - from) * (size_t)ny + (size_t)y) * ANGLES;
        const double q = source(group, x, p->y0 + y, p->z0 + z);
        double sum = 0;
        for (int a = 0; a < ANGLES; ++a) {
          const double mu = 0.2 + 0.1 * a, eta = 0.9 - 0.1 * a, xi = 0.5;
          const double psi = (q + mu * in_x[a] + eta * in_y[a] + xi * in_z[a]) / (1.0 + mu + eta + xi);
          in_x[a] = in_y[a] = in_z[a] = psi;
          sum += psi;
        }
        flux[((size_t)x * (size_t)ny + (size_t)y) * (size_t)nz + (size_t)z] += sum;
      }
    }
  }
}

static size_t cells(const piece* p) { return (size_t)p->nx * (size_t)p->ny * (size_t)p->nz; }

// Neighbour along y or z in the direction the wavefront goes (+1) or comes from (-1); -1 at the edge of the grid.
static int neighbour(const piece* p, int octant, bool along_y, int way) {
  const int step = (octant & (along_y ? 2 : 4)) ? -way : way;
  const int row = p->row + (along_y ? step : 0), column = p->column + (along_y ? 0 : step);
  return row < 0 || row >= p->rows || column < 0 || column >= p->columns ? -1 : row * p->columns + column;
}

// One group through all octants. Without a communicator the piece is the whole grid.
static void sweep_group(const piece* p, int group, int tag, MPI_Comm comm, double* flux) {
  const size_t face_x = (size_t)p->ny * (size_t)p->nz * ANGLES;
  const size_t face_y = BLOCK * (size_t)p->nz * ANGLES, face_z = BLOCK * (size_t)p->ny * ANGLES;
  double side_x[face_x], side_y[face_y], side_z[face_z];
  memset(flux, 0, cells(p) * sizeof *flux);
  for (int octant = 0; octant < OCTANTS; ++octant) {
    const int from_y = neighbour(p, octant, true, -1), to_y = neighbour(p, octant, true, 1);
    const int from_z = neighbour(p, octant, false, -1), to_z = neighbour(p, octant, false, 1);
    memset(side_x, 0, sizeof side_x);
    for (int at = 0; at < p->nx; at += BLOCK) {
      if (from_y < 0) memset(side_y, 0, sizeof side_y);
      if (from_z < 0) memset(side_z, 0, sizeof side_z);
      if (from_y >= 0) MPI_Recv(side_y, (int)face_y, MPI_DOUBLE, from_y, tag, comm, MPI_STATUS_IGNORE);
      if (from_z >= 0) MPI_Recv(side_z, (int)face_z, MPI_DOUBLE, from_z, tag, comm, MPI_STATUS_IGNORE);
      sweep_block(p, octant, group, at, side_x, side_y, side_z, flux);
      if (to_y >= 0) MPI_Send(side_y, (int)face_y, MPI_DOUBLE, to_y, tag, comm);
      if (to_z >= 0) MPI_Send(side_z, (int)face_z, MPI_DOUBLE, to_z, tag, comm);
    }
  }
}

static void sweep_all(void* ctx, int thread, long first, long rounds) {
  transport* t = ctx;
  (void)first;
  for (long i = 0; i < rounds; ++i)
    for (int g = thread; g < GROUPS; g += t->b->threads) sweep_group(&t->own, g, g, t->b->comms[thread], t->flux[g]);
}

// Against the whole grid swept in one piece; gives the checksum of this rank's flux.
static uint64_t check(transport* t) {
  const piece* p = &t->own;
  piece whole = {p->nx, p->total_y, p->total_z, 0, 0, p->total_y, p->total_z, 0, 0, 1, 1};
  double* flux = bench_alloc(cells(&whole) * sizeof *flux);
  uint64_t sum = 0;
  for (int g = 0; g < GROUPS; ++g) {
    sweep_group(&whole, g, 0, MPI_COMM_NULL, flux);
    for (int x = 0; x < p->nx; ++x)
      for (int y = 0; y < p->ny; ++y)
        for (int z = 0; z < p->nz; ++z) {
          const double mine = t->flux[g][((size_t)x * (size_t)p->ny + (size_t)y) * (size_t)p->nz + (size_t)z];
          const double expected =
              flux[((size_t)x * (size_t)whole.ny + (size_t)(p->y0 + y)) * (size_t)whole.nz + (size_t)(p->z0 + z)];
          if (mine != expected)
            bench_wrong(t->b, "flux, millionths", (long long)(1e6 * expected), (long long)(1e6 * mine));
          uint64_t bits;
          memcpy(&bits, &mine, sizeof bits);
          sum += bits * 0x9E3779B97F4A7C15u >> 20;
        }
  }
  free(flux);
  bench_checked((long)cells(p) * GROUPS);
  return sum;
}

int main(int argc, char** argv) {
  bench b = {.scale = 32};
  bench_begin(&b, "sweep", 0, &argc, &argv);
  if (b.scale % BLOCK || b.scale > 4096 || b.threads > GROUPS) {
    if (!b.rank) fprintf(stderr, "sweep: --scale a multiple of %d up to 4096, at most %d threads\n", BLOCK, GROUPS);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int shape[2] = {0, 0};
  MPI_Dims_create(b.ranks, 2, shape);
  transport t = {.b = &b,
                 .own = {.nx = (int)b.scale,
                         .ny = CELLS,
                         .nz = CELLS,
                         .y0 = CELLS * (b.rank / shape[1]),
                         .z0 = CELLS * (b.rank % shape[1]),
                         .total_y = CELLS * shape[0],
                         .total_z = CELLS * shape[1],
                         .row = b.rank / shape[1],
                         .column = b.rank % shape[1],
                         .rows = shape[0],
                         .columns = shape[1]}};
  for (int g = 0; g < GROUPS; ++g) t.flux[g] = bench_alloc(cells(&t.own) * sizeof(double));
  bench_timing timing = bench_measure(&b, sweep_all, &t, 0);
  uint64_t sum = check(&t), all;
  MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, b.control);
  char answer[32];
  snprintf(answer, sizeof answer, "\"%016llx\"", (unsigned long long)all);
  bench_note("answer", answer);
  bench_report(&b, &timing, BENCH_TIME, 1e3, "time of a sweep", "ms");
  for (int g = 0; g < GROUPS; ++g) free(t.flux[g]);
  bench_end(&b);
}
