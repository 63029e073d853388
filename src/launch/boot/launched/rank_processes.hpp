// Ranks of this node that still have a process, found in /proc: a launcher's ranks carry its variables in the
// environment that they began with.
#pragma once

#include <vector>

namespace heddle::boot {

// Those of `ranks` that no process of this node is, or may become. Empty: there are none, or it cannot be told, as in a container that
// hides the other processes.
std::vector<int> without_process(int own_rank, const std::vector<int>& ranks);

}  // namespace heddle::boot
