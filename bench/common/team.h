// The threads of a rank that a benchmark program measures: its team.
//
// Kernel threads are created once and sleep between samples; the main thread is member 0. User-level threads are created for
// each sample, all on the main thread: `--thread-runtime NAME` loads threads-NAME.so from the program's own folder (bench/
// base/threads/NAME.cpp), which defines bench_run_threads.
#ifndef HEDDLE_BENCH_TEAM_H
#define HEDDLE_BENCH_TEAM_H

#include "bench.h"

// Runs member(0) ... member(n - 1), each in a thread of the runtime, and returns when all have ended.
typedef void (*bench_run_threads_function)(int n, void (*member)(int));

// Before MPI is initialized, so that the library can find the runtime in the process. Ends the program if it can't be loaded.
void team_choose(const char* runtime);

void team_start(int threads);
// Seconds from the first member's start to the last one's end.
double team_run(bench_body body, void* ctx, long first, long rounds);
void team_stop(void);

#endif
