#define _GNU_SOURCE
#include "team.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
  int threads;
  bench_run_threads_function run_threads;  // of a runtime of user-level threads; NULL: kernel threads
  pthread_t* members;
  pthread_barrier_t gate;
  bench_body body;  // NULL tells the members to leave
  void* ctx;
  long first, rounds;
  struct span {
    _Alignas(64) double start, end;
  } * spans;
} team;

static void work(int member) {
  struct span* s = &team.spans[member];
  s->start = bench_now();
  team.body(team.ctx, member, team.first, team.rounds);
  s->end = bench_now();
}

static void* member_main(void* arg) {
  int member = (int)(intptr_t)arg;
  for (;;) {
    pthread_barrier_wait(&team.gate);
    if (!team.body) return NULL;
    work(member);
    pthread_barrier_wait(&team.gate);
  }
}

void team_choose(const char* runtime) {
  if (!runtime || !strcmp(runtime, "pthreads")) return;
  char path[PATH_MAX + NAME_MAX];
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  path[length > 0 ? length : 0] = 0;
  char* slash = strrchr(path, '/');
  char* folder_end = slash ? slash + 1 : path;
  snprintf(folder_end, sizeof path - (size_t)(folder_end - path), "threads-%.100s.so", runtime);
  void* module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  void* function = module ? dlsym(module, "bench_run_threads") : NULL;
  if (!function) {
    fprintf(stderr, "bench: --thread-runtime %s: %s\n", runtime, dlerror());
    exit(2);
  }
  memcpy(&team.run_threads, &function, sizeof function);
}

void team_start(int threads) {
  team.threads = threads;
  team.spans = bench_alloc((size_t)threads * sizeof *team.spans);
  if (threads == 1 || team.run_threads) return;
  team.members = bench_alloc((size_t)threads * sizeof *team.members);
  pthread_barrier_init(&team.gate, NULL, (unsigned)threads);
  for (int i = 1; i < threads; ++i)
    if (pthread_create(&team.members[i], NULL, member_main, (void*)(intptr_t)i)) {
      fprintf(stderr, "bench: can't start thread %d\n", i);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

double team_run(bench_body body, void* ctx, long first, long rounds) {
  team.body = body, team.ctx = ctx, team.first = first, team.rounds = rounds;
  if (team.run_threads) {
    team.run_threads(team.threads, work);
  } else {
    if (team.threads > 1) pthread_barrier_wait(&team.gate);
    work(0);
    if (team.threads > 1) pthread_barrier_wait(&team.gate);
  }
  double start = team.spans[0].start, end = team.spans[0].end;
  for (int i = 1; i < team.threads; ++i) {
    if (team.spans[i].start < start) start = team.spans[i].start;
    if (team.spans[i].end > end) end = team.spans[i].end;
  }
  return end - start;
}

void team_stop(void) {
  if (team.members) {
    team.body = NULL;
    pthread_barrier_wait(&team.gate);
    for (int i = 1; i < team.threads; ++i) pthread_join(team.members[i], NULL);
    pthread_barrier_destroy(&team.gate);
    free(team.members);
  }
  free(team.spans);
}
