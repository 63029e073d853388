#include "bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "team.h"
#include "variables.h"

static atomic_long checked_answers;
static char notes[8192];

double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

double bench_median(double* v, int n) {
  qsort(v, (size_t)n, sizeof *v, ascending);
  return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

void* bench_alloc(size_t bytes) {
  void* p = NULL;
  if (posix_memalign(&p, 4096, bytes ? bytes : 1)) {
    fprintf(stderr, "bench: no memory for %zu bytes\n", bytes);
    exit(2);
  }
  return memset(p, 0, bytes);
}

void bench_stamp(void* message, size_t size, uint64_t stamp) {
  size_t n = size < sizeof stamp ? size : sizeof stamp;
  memcpy(message, &stamp, n);
  if (size >= 2 * sizeof stamp) memcpy((char*)message + size - sizeof stamp, &stamp, sizeof stamp);
}

bool bench_stamped(const void* message, size_t size, uint64_t stamp) {
  size_t n = size < sizeof stamp ? size : sizeof stamp;
  return !memcmp(message, &stamp, n) &&
         (size < 2 * sizeof stamp || !memcmp((const char*)message + size - sizeof stamp, &stamp, sizeof stamp));
}

bool bench_leads(const bench* b) { return b->rank < b->ranks / 2; }

int bench_partner(const bench* b) { return (b->rank + b->ranks / 2) % b->ranks; }

void bench_checked(long answers) { atomic_fetch_add_explicit(&checked_answers, answers, memory_order_relaxed); }

_Noreturn void bench_wrong(const bench* b, const char* what, long long expected, long long found) {
  fprintf(stderr, "%s: wrong answer on rank %d: %s: expected %lld, found %lld\n", b->name, b->rank, what, expected,
          found);
  MPI_Abort(MPI_COMM_WORLD, 3);
  abort();
}

static _Noreturn void usage(const char* name, const char* why) {
  fprintf(stderr,
          "%s: %s\noptions: --threads N --size BYTES --window N --comm shared|each --seconds S --samples N "
          "--mode WORD "
          "--level single|multiple --scale N --file PATH --variables A,B --thread-runtime NAME\n",
          name, why);
  exit(2);
}

static long number(const char* name, const char* option, const char* text, long least, long most) {
  char* end;
  long n = strtol(text, &end, 10);
  if (*end || end == text || n < least || n > most) usage(name, option);
  return n;
}

static void parse(bench* b, int argc, char** argv) {
  for (int i = 1; i < argc; i += 2) {
    const char *o = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;
    if (!v) usage(b->name, o);
    if (!strcmp(o, "--threads"))
      b->threads = (int)number(b->name, o, v, 1, BENCH_MAX_THREADS);
    else if (!strcmp(o, "--size"))
      b->size = (size_t)number(b->name, o, v, 1, 1L << 34);
    else if (!strcmp(o, "--window"))
      b->window = (int)number(b->name, o, v, 1, 1 << 20);
    else if (!strcmp(o, "--samples"))
      b->samples = (int)number(b->name, o, v, 1, BENCH_MAX_SAMPLES);
    else if (!strcmp(o, "--scale"))
      b->scale = number(b->name, o, v, 1, 1L << 40);
    else if (!strcmp(o, "--seconds"))
      b->seconds = strtod(v, NULL);
    else if (!strcmp(o, "--mode"))
      b->mode = v;
    else if (!strcmp(o, "--file"))
      b->file = v;
    else if (!strcmp(o, "--thread-runtime"))
      b->runtime = v;
    else if (!strcmp(o, "--variables"))
      b->variables = v;
    else if (!strcmp(o, "--level") && (!strcmp(v, "single") || !strcmp(v, "multiple")))
      b->single = !strcmp(v, "single");
    else if (!strcmp(o, "--comm") && (!strcmp(v, "each") || !strcmp(v, "shared")))
      b->comm_each = !strcmp(v, "each");
    else
      usage(b->name, o);
  }
  if (!(b->seconds > 0)) usage(b->name, "--seconds");
}

void bench_begin(bench* b, const char* name, int ranks_wanted, int* argc, char*** argv) {
  b->name = name;
  if (!b->threads) b->threads = 1;
  if (!b->size) b->size = 8;
  if (!(b->seconds > 0)) b->seconds = 0.5;
  if (!b->samples) b->samples = 5;
  if (!b->mode) b->mode = "";
  // Launchers hand the arguments over untouched, so they can be read before MPI is there.
  parse(b, *argc, *argv);
  if (b->single && b->threads > 1) usage(name, "--level single goes with one thread");
  team_choose(b->runtime);
  const int wanted = b->single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
  int provided;
  MPI_Init_thread(argc, argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
  if (provided < wanted) {
    fprintf(stderr, "%s: this MPI does not grant MPI_THREAD_MULTIPLE\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const bool pairs = ranks_wanted == BENCH_PAIRS;
  if (pairs ? b->ranks % 2 : ranks_wanted && b->ranks != ranks_wanted) {
    if (!b->rank && pairs) fprintf(stderr, "%s: runs on pairs of ranks, was started on %d\n", name, b->ranks);
    if (!b->rank && !pairs) fprintf(stderr, "%s: runs on %d ranks, was started on %d\n", name, ranks_wanted, b->ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &b->control);
  b->comms = bench_alloc((size_t)b->threads * sizeof *b->comms);
  for (int i = 0; i < b->threads; ++i) {
    if (b->comm_each || !i)
      MPI_Comm_dup(MPI_COMM_WORLD, &b->comms[i]);
    else
      b->comms[i] = b->comms[0];
  }
  team_start(b->threads);
  if (b->variables) variables_begin(b->variables);
}

bench_timing bench_measure(bench* b, bench_body body, void* ctx, long most) {
  bench_timing t = {0};
  const double wished = b->seconds / b->samples;
  long first = 0;
  // next[0]: rounds of the next run; next[1]: whether it is a sample. Rank 0 decides.
  long next[2] = {1, 0};
  while (t.count < b->samples) {
    MPI_Bcast(next, 2, MPI_LONG, 0, b->control);
    MPI_Barrier(b->control);
    double elapsed = team_run(body, ctx, first, next[0]);
    first += next[0];
    if (next[1]) t.elapsed[t.count++] = elapsed;
    if (b->rank || next[1]) continue;
    double growth = elapsed > 0 ? wished / elapsed : 100;
    bool long_enough = growth < 1.5 || (most && next[0] >= most);
    if (!long_enough) {
      next[0] = (long)((double)next[0] * (growth > 10 ? 10 : growth) + 1);
      if (most && next[0] > most) next[0] = most;
    }
    next[1] = long_enough;
  }
  t.rounds = next[0];
  return t;
}

double bench_together(bench_body body, void* ctx, long rounds) { return team_run(body, ctx, 0, rounds); }

bool bench_enough(const bench* b, double measured) {
  int enough = measured >= b->seconds / b->samples;
  MPI_Bcast(&enough, 1, MPI_INT, 0, b->control);
  return enough;
}

void bench_note(const char* key, const char* json) {
  size_t used = strlen(notes);
  snprintf(notes + used, sizeof notes - used, ",\"%s\":%s", key, json);
}

void bench_report_samples(const bench* b, const double* samples, int count, const char* metric, const char* unit) {
  long mine = atomic_load(&checked_answers), answers = 0;
  MPI_Reduce(&mine, &answers, 1, MPI_LONG, MPI_SUM, 0, b->control);
  if (b->variables) variables_end();
  if (!b->rank) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\r\n\"\\")] = 0;
    double sorted[BENCH_MAX_SAMPLES];
    memcpy(sorted, samples, (size_t)count * sizeof *sorted);
    double median = bench_median(sorted, count);
    printf(
        "{\"bench\":\"%s\",\"mpi\":\"%s\",\"ranks\":%d,\"threads\":%d,\"size\":%zu,\"window\":%d,\"comm\":\"%"
        "s\"",
        b->name, version, b->ranks, b->threads, b->size, b->window, b->comm_each ? "each" : "shared");
    if (b->single) printf(",\"level\":\"single\"");
    if (b->runtime) printf(",\"thread_runtime\":\"%s\"", b->runtime);
    if (*b->mode) printf(",\"mode\":\"%s\"", b->mode);
    printf("%s,\"checked\":%ld,\"metric\":\"%s\",\"unit\":\"%s\",\"value\":%.6g,\"samples\":[", notes, answers, metric,
           unit, median);
    for (int i = 0; i < count; ++i) printf("%s%.6g", i ? "," : "", samples[i]);
    printf("]}\n");
    fflush(stdout);
  }
  notes[0] = 0;
}

void bench_absent(const bench* b, const char* what) {
  if (b->variables) variables_end();
  if (b->rank) return;
  printf("{\"bench\":\"%s\",\"absent\":\"%s\"}\n", b->name, what);
  fflush(stdout);
}

void bench_report(const bench* b, const bench_timing* t, bench_kind kind, double scale, const char* metric,
                  const char* unit) {
  double samples[BENCH_MAX_SAMPLES];
  for (int i = 0; i < t->count; ++i) {
    double per_round = t->elapsed[i] / (double)t->rounds;
    samples[i] = kind == BENCH_TIME ? scale * per_round : scale / per_round;
  }
  bench_report_samples(b, samples, t->count, metric, unit);
}

void bench_end(bench* b) {
  team_stop();
  for (int i = 0; i < b->threads; ++i)
    if (b->comm_each || !i) MPI_Comm_free(&b->comms[i]);
  free(b->comms);
  MPI_Comm_free(&b->control);
  MPI_Finalize();
}
