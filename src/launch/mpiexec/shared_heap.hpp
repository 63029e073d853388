// What -shared-heap adds to a program's environment: the library that takes large blocks of its heap to memory that others see (shared_heap/).
#pragma once

#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {

// Throws UsageError: ranks are threads, which have one heap, or the library is not there.
void add_shared_heap(Options& options);

}  // namespace heddle::mpiexec
