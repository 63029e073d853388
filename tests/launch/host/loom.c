/* A shared library with state, as programs bring along or find in the system. */
#include "launch/host/loom.h"

static int constructed = 0;
static int passes = 0;
static _Thread_local int picks = 0;
int loom_width = 7;

__attribute__((constructor)) static void construct(void) { ++constructed; }

int loom_constructed(void) { return constructed; }
int loom_pass(void) { return __atomic_add_fetch(&passes, 1, __ATOMIC_RELAXED); }
int loom_passes(void) { return __atomic_load_n(&passes, __ATOMIC_RELAXED); }
int loom_pick(void) { return ++picks; }
int* loom_width_place(void) { return &loom_width; }
