// Children of processes; ours with those that we adopted.
#pragma once

#include <sys/types.h>

#include <vector>

namespace heddle::mpiexec {

std::vector<pid_t> own_children();
// The children of any process; none where the kernel keeps no list of them.
std::vector<pid_t> listed_children(pid_t process);

}  // namespace heddle::mpiexec
