/* A threaded MPI program that checks itself and prints what it measured: ./dev demo runs it on two ranks.
 * The ranks are pairs: one of the first half and one of the second, so that on two nodes each pair has a node between.
 *
 * Each rank starts some threads, and every thread calls MPI as it likes (MPI_THREAD_MULTIPLE):
 *   latency  - each thread plays ping-pong with its partner on the other rank;
 *   rate     - each thread of a first rank streams windows of nonblocking messages to its partner on the second;
 *   heat     - a metal plate: each thread owns a strip of rows and exchanges its edges with the strips above and below,
 *              some of which belong to another rank; the answer must be the serial one, bit for bit.
 * Every received value is compared with what was to be sent. The exit status is 1 if any differed.
 *
 * Plain MPI and POSIX threads: mpicc -std=c11 -pthread demo.c -o demo && mpiexec -n 2 ./demo [--threads N] [--quick]
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { window = 64, width = 256, rows_per_strip = 32, max_threads = 64 };

enum { quick = 2, full = 100 };

static int rank, ranks;
static int most = full, scale = quick; /* how much the phases do, at most and now */
static MPI_Comm lane[max_threads];     /* one communicator a thread, for its collectives */
static pthread_barrier_t together;     /* the threads of this rank */
static atomic_long checked, wrong;

static void check(int right) {
  atomic_fetch_add_explicit(&checked, 1, memory_order_relaxed);
  if (!right) atomic_fetch_add_explicit(&wrong, 1, memory_order_relaxed);
}

/* A pair is a rank of the first half, which begins, and one of the second. */
static int partner(void) { return (rank + ranks / 2) % ranks; }
static int begins(void) { return rank < ranks / 2; }

/* The task of one thread in one phase, and its result. */
struct worker {
  int thread, threads;
  double seconds;
  void (*phase)(struct worker*);
  float* strip; /* heat: rows_per_strip rows of the answer */
};

/* ---- phases --------------------------------------------------------------------------------------------------------*/

static int round_trips(void) { return 200 * scale; }

static void latency(struct worker* me) {
  const int peer = partner(), tag = me->thread;
  for (long i = 0; i < round_trips(); ++i) {
    long sent = i * max_threads + me->thread, got = -1;
    if (begins()) {
      MPI_Send(&sent, 1, MPI_LONG, peer, tag, MPI_COMM_WORLD);
      MPI_Recv(&got, 1, MPI_LONG, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(got == -sent);
    } else {
      MPI_Recv(&got, 1, MPI_LONG, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(got == sent);
      got = -got;
      MPI_Send(&got, 1, MPI_LONG, peer, tag, MPI_COMM_WORLD);
    }
  }
}

static int windows(void) { return 20 * scale; }

static void rate(struct worker* me) {
  const int peer = partner(), tag = me->thread;
  MPI_Request requests[window];
  long values[window];
  for (long w = 0; w < windows(); ++w) {
    for (int i = 0; i < window; ++i) {
      const long value = (w * window + i) * max_threads + me->thread;
      values[i] = begins() ? value : -1;
      if (begins())
        MPI_Isend(&values[i], 1, MPI_LONG, peer, tag, MPI_COMM_WORLD, &requests[i]);
      else
        MPI_Irecv(&values[i], 1, MPI_LONG, peer, tag, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; !begins() && i < window; ++i) check(values[i] == (w * window + i) * max_threads + me->thread);
  }
  /* The sender's clock stops when the receiver has everything. */
  if (begins())
    MPI_Recv(NULL, 0, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(NULL, 0, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
}

static int steps(void) { return 4 * scale; }

/* One row of the plate after one step, from the row and its neighbours before it. */
static void relax(const float* above, const float* here, const float* below, float* out) {
  out[0] = here[0];
  out[width - 1] = here[width - 1];
  for (int x = 1; x < width - 1; ++x) out[x] = 0.25f * (above[x] + below[x] + here[x - 1] + here[x + 1]);
}

/* The plate at the start: cold, but for its upper edge and a warm spot. */
static float at_start(int row, int x) { return row == 0 ? 100.0f : (float)((row * 7 + x * 13) % 29); }

static void heat(struct worker* me) {
  const int strips = ranks * me->threads, mine = rank * me->threads + me->thread;
  const int above = mine == 0 ? MPI_PROC_NULL : (mine - 1) / me->threads;
  const int below = mine == strips - 1 ? MPI_PROC_NULL : (mine + 1) / me->threads;
  const size_t row_bytes = width * sizeof(float);
  float* now = malloc((rows_per_strip + 2) * row_bytes);
  float* next = malloc((rows_per_strip + 2) * row_bytes);
  for (int y = 0; y < rows_per_strip + 2; ++y)
    for (int x = 0; x < width; ++x) now[y * width + x] = at_start(mine * rows_per_strip + y - 1, x);

  /* A row's tag names the strip that it is for, and whether it comes from above. */
  for (int step = 0; step < steps(); ++step) {
    MPI_Request edges[4];
    float *ghost_above = now, *ghost_below = now + (rows_per_strip + 1) * width;
    MPI_Irecv(ghost_above, width, MPI_FLOAT, above, 1000 + 2 * mine, MPI_COMM_WORLD, &edges[0]);
    MPI_Irecv(ghost_below, width, MPI_FLOAT, below, 1000 + 2 * mine + 1, MPI_COMM_WORLD, &edges[1]);
    MPI_Isend(now + width, width, MPI_FLOAT, above, 1000 + 2 * (mine - 1) + 1, MPI_COMM_WORLD, &edges[2]);
    MPI_Isend(now + rows_per_strip * width, width, MPI_FLOAT, below, 1000 + 2 * (mine + 1), MPI_COMM_WORLD, &edges[3]);
    MPI_Waitall(4, edges, MPI_STATUSES_IGNORE);
    for (int y = 1; y <= rows_per_strip; ++y) {
      float* row = now + y * width;
      const int edge = (mine == 0 && y == 1) || (mine == strips - 1 && y == rows_per_strip);
      if (edge)
        memcpy(next + y * width, row, row_bytes);
      else
        relax(row - width, row, row + width, next + y * width);
    }
    float* swap = now;
    now = next;
    next = swap;
  }

  memcpy(me->strip, now + width, rows_per_strip * row_bytes);
  free(now);
  free(next);
}

/* The same plate by one thread, without MPI. */
static float* heat_serially(int strips) {
  const int rows = strips * rows_per_strip;
  const size_t bytes = (size_t)rows * width * sizeof(float);
  float *now = malloc(bytes), *next = malloc(bytes);
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < width; ++x) now[y * width + x] = at_start(y, x);
  memcpy(next, now, bytes);
  for (int step = 0; step < steps(); ++step) {
    for (int y = 1; y < rows - 1; ++y)
      relax(now + (y - 1) * width, now + y * width, now + (y + 1) * width, next + y * width);
    float* swap = now;
    now = next;
    next = swap;
  }
  free(next);
  return now;
}

/* ---- running them --------------------------------------------------------------------------------------------------*/

static void* work(void* argument) {
  struct worker* me = argument;
  pthread_barrier_wait(&together);
  MPI_Barrier(lane[me->thread]); /* all lanes at once: collectives on different communicators run side by side */
  pthread_barrier_wait(&together);
  const double start = MPI_Wtime();
  me->phase(me);
  me->seconds = MPI_Wtime() - start;
  return NULL;
}

/* Runs a phase on that many threads of each rank; the time of the slowest thread of all. */
static double run(void (*phase)(struct worker*), int threads, float* plate) {
  struct worker workers[max_threads];
  pthread_t ids[max_threads];
  double slowest = 0;
  pthread_barrier_init(&together, NULL, (unsigned)threads);
  for (int t = 0; t < threads; ++t) {
    workers[t] = (struct worker){.thread = t, .threads = threads, .phase = phase};
    if (plate) workers[t].strip = plate + (size_t)t * rows_per_strip * width;
    if (pthread_create(&ids[t], NULL, work, &workers[t])) MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int t = 0; t < threads; ++t) {
    pthread_join(ids[t], NULL);
    if (workers[t].seconds > slowest) slowest = workers[t].seconds;
  }
  pthread_barrier_destroy(&together);
  MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

/* The same as often as it fits into two seconds, as a short trial has it: a busy machine shall not take minutes. */
static double measure(void (*phase)(struct worker*), int threads, float* plate) {
  scale = quick;
  const double trial = run(phase, threads, plate);
  if (most == quick) return trial;
  const double fits = quick * 2.0 / trial;
  scale = fits < quick ? quick : fits < most ? (int)fits : most;
  return run(phase, threads, plate);
}

/* Heat on all threads, compared with the serial answer on rank 0; the time of the threaded part. */
static double run_heat(int threads) {
  const int mine = threads * rows_per_strip * width;
  float* part = malloc((size_t)mine * sizeof(float));
  float* whole = rank == 0 ? malloc((size_t)mine * (size_t)ranks * sizeof(float)) : NULL;
  const double seconds = measure(heat, threads, part);
  MPI_Gather(part, mine, MPI_FLOAT, whole, mine, MPI_FLOAT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    float* serial = heat_serially(ranks * threads);
    for (long i = 0; i < (long)mine * ranks; ++i) check(whole[i] == serial[i]);
    free(serial);
  }
  free(part);
  free(whole);
  return seconds;
}

static int read_options(int argc, char** argv) {
  int threads = 4;
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "--quick"))
      most = quick;
    else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
      threads = atoi(argv[++i]);
    else
      threads = 0;
  }
  if (threads >= 1 && threads <= max_threads) return threads;
  if (rank == 0) fprintf(stderr, "usage: demo [--threads 1..%d] [--quick]\n", max_threads);
  MPI_Finalize();
  exit(2);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int threads = read_options(argc, argv);
  if (provided != MPI_THREAD_MULTIPLE || ranks % 2 != 0) {
    if (rank == 0) fprintf(stderr, "demo: needs an even number of ranks (has %d) and MPI_THREAD_MULTIPLE\n", ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int t = 0; t < threads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &lane[t]);

  const int counts[2] = {1, threads};
  double half_trip[2], messages[2];
  for (int i = 0; i < 2; ++i) {
    half_trip[i] = measure(latency, counts[i], NULL) * 1e6;
    half_trip[i] /= 2.0 * round_trips();
    messages[i] = 1 / measure(rate, counts[i], NULL) / 1e6;
    messages[i] *= (double)counts[i] * windows() * window * ranks / 2;
  }
  const double plate_seconds = run_heat(threads);

  long mine[2] = {atomic_load(&checked), atomic_load(&wrong)}, all[2];
  MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Bcast(all, 2, MPI_LONG, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    printf("\n%s\n%d ranks, MPI_THREAD_MULTIPLE, 8-byte messages\n\n", library, ranks);
    printf("  %-36s %12s %9d threads\n", "", "1 thread", threads);
    printf("  %-36s %9.2f us %14.2f us\n", "latency (half a blocking round trip)", half_trip[0], half_trip[1]);
    printf("  %-36s %8.2f M/s %13.2f M/s\n", ranks == 2 ? "message rate (window of 64)" : "message rate of all pairs",
           messages[0], messages[1]);
    printf("  %-36s %12s %14.0f /s\n\n", "heat, steps with 2 edges a thread", "", steps() / plate_seconds);
    printf("%ld answers checked, %ld wrong\n", all[0], all[1]);
  }
  for (int t = 0; t < threads; ++t) MPI_Comm_free(&lane[t]);
  MPI_Finalize();
  return all[1] ? 1 : 0;
}
