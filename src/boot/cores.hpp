// How many cores this process may use: the affinity mask, and the cgroup's quota where there is one.
#pragma once

namespace heddle::boot {

// At least 1. A quota of 1.5 cores counts as 2: rounding down would leave paid-for time unused.
int usable_cores();

}  // namespace heddle::boot
