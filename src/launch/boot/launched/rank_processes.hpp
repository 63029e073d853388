// Ranks of this node that still have a process, found in /proc: a launcher's ranks carry its variables in their initial
// environment.
#pragma once

#include <vector>

namespace heddle::boot {

// The `ranks` that no process of this node is, or may become. Empty: there are none, or the answer is unknown, as in a
// container that hides the other processes.
std::vector<int> without_process(int own_rank, const std::vector<int>& ranks);

}  // namespace heddle::boot
