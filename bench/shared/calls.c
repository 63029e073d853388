#include "calls.h"

__attribute__((visibility("default"))) void calls_shared(void) { __asm__ volatile("" ::: "memory"); }

__attribute__((visibility("default"))) const calls_component calls_loaded = {calls_shared};
