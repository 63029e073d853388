// The effect of -shared-heap on a program's environment: the library that places large blocks of its heap in memory
// that peers map (shared_heap/).
#pragma once

#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {

// Throws UsageError: ranks are threads, which have one heap, or the library is not there.
void add_shared_heap(Options& options);

}  // namespace heddle::mpiexec
