// calls: what it costs to call a function that does nothing, in cycles of the time stamp counter, after FNbench (Evans 2020,
// Fig. 4). `--mode static|shared|loaded`: a function of the program; one of a shared library that the program is linked with; one
// that is reached through a table of pointers, as the functions of a loaded component are.
//
// A sample is a fifth of a billion calls. The loop is part of it, as in FNbench. Where each function lies is checked.
#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <x86intrin.h>

#include "bench.h"

enum { calls = 200000000 };

// Its effect must be unknown to its caller, or the call may be left out.
__attribute__((noipa)) static void calls_static(void) { __asm__ volatile("" ::: "memory"); }

static double cycles_static(void) {
  const unsigned long long start = __rdtsc();
  for (long i = 0; i < calls; ++i) calls_static();
  return (double)(__rdtsc() - start) / calls;
}

static double cycles_shared(void) {
  const unsigned long long start = __rdtsc();
  for (long i = 0; i < calls; ++i) calls_shared();
  return (double)(__rdtsc() - start) / calls;
}

static double cycles_loaded(const calls_component* component) {
  const unsigned long long start = __rdtsc();
  for (long i = 0; i < calls; ++i) component->nothing();
  return (double)(__rdtsc() - start) / calls;
}

// True if the function lies in the program itself and not in a shared library.
static bool in_program(void (*function)(void)) {
  void *at, *here;
  double (*of_program)(void) = cycles_static;
  memcpy(&at, &function, sizeof at), memcpy(&here, &of_program, sizeof here);
  Dl_info where, program;
  return dladdr(at, &where) && dladdr(here, &program) && where.dli_fbase == program.dli_fbase;
}

int main(int argc, char** argv) {
  bench b = {.mode = "static"};
  bench_begin(&b, "calls", 1, &argc, &argv);
  const bool of_program = !strcmp(b.mode, "static"), loaded = !strcmp(b.mode, "loaded");
  if (!of_program && !loaded && strcmp(b.mode, "shared")) {
    fprintf(stderr, "calls: --mode static|shared|loaded\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const calls_component* component = dlsym(RTLD_DEFAULT, "calls_loaded");  // as one finds what one has loaded
  if (!component) bench_wrong(&b, "components", 1, 0);
  if (in_program(of_program ? calls_static : loaded ? component->nothing : calls_shared) != of_program)
    bench_wrong(&b, "functions of the program", of_program, !of_program);
  bench_checked(1);
  double samples[BENCH_MAX_SAMPLES];
  for (int i = 0; i < b.samples; ++i)
    samples[i] = of_program ? cycles_static() : loaded ? cycles_loaded(component) : cycles_shared();
  bench_report_samples(&b, samples, b.samples, b.mode, "cycles");
  bench_end(&b);
}
