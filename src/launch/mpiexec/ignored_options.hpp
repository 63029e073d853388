// Options of MPICH's, Intel's and Open MPI's mpiexec that mean nothing for processes on one machine. They are accepted,
// so that scripts keep working, and listed once in a note. Options that would change the program or its output are in
// refused_options.
#pragma once

#include <string>

namespace heddle::mpiexec {

// How many values the option takes (its name without dashes); -1: we do not know it.
int ignored_option_values(const std::string& name);

}  // namespace heddle::mpiexec
