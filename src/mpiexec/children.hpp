// Our children, those that we adopted included.
#pragma once

#include <sys/types.h>

#include <vector>

namespace heddle::mpiexec {

std::vector<pid_t> own_children();

}  // namespace heddle::mpiexec
