// The number of cores that this process may use: the affinity mask, and the cgroup's quota where there is one.
#pragma once

namespace heddle::boot {

// At least 1. A quota of 1.5 cores counts as 2: rounding down would leave paid-for time unused.
int usable_cores();

// Moves the calling thread to the `part`th of `parts` equal parts of its allowed cores, unless it is there, and leaves
// its affinity unchanged. The scheduler may leave processes that were started at once on one core for a long time;
// after this each is on its own core and is still free to move. Nothing happens with fewer cores than parts.
void spread(int part, int parts);

}  // namespace heddle::boot
