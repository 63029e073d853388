// Options of MPICH's, Intel's and Open MPI's mpiexec that would change what runs or what comes out, and that Heddle does
// not have: to ignore them would mislead.
#pragma once

#include <string>

namespace heddle::mpiexec {

// Why the option (its name without dashes) is refused and what to do instead; null: it is not one of these.
const char* why_refused(const std::string& name);

}  // namespace heddle::mpiexec
