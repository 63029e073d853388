// Options of MPICH's, Intel's and Open MPI's mpiexec that would change the program or its output, and that Heddle does
// not have: ignoring them would mislead.
#pragma once

#include <string>

namespace heddle::mpiexec {

// The reason why the option (its name without dashes) is refused and the alternative; null: it is not one of these.
const char* why_refused(const std::string& name);

}  // namespace heddle::mpiexec
