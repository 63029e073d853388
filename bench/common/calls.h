// The functions that `calls` calls in a shared library of its own (bench/shared/calls.c).
#ifndef HEDDLE_BENCH_CALLS_H
#define HEDDLE_BENCH_CALLS_H

void calls_shared(void);

// As the table of a component that is loaded.
typedef struct {
  void (*nothing)(void);
} calls_component;
extern const calls_component calls_loaded;

#endif
