// The limit on open files: mpiexec has a few for each rank.
#pragma once

#include <sys/resource.h>

#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {

// Throws std::runtime_error if the job needs more than the hard limit allows.
void require_open_files(const Options& options);

// Raises our limit to the hard one and returns what it was: the ranks get that back.
rlimit raise_open_files();

}  // namespace heddle::mpiexec
