// Options of MPICH's, Intel's and Open MPI's mpiexec that mean nothing for processes on one machine. They are accepted,
// so that scripts keep working, and named once, so that nobody wonders. What would change what runs or what comes out is
// not here but in refused_options.
#pragma once

#include <string>

namespace heddle::mpiexec {

// How many values the option takes (its name without dashes); -1: we do not know it.
int ignored_option_values(const std::string& name);

}  // namespace heddle::mpiexec
