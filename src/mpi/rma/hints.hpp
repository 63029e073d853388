// Info hints with a meaning for a window (MPI 5.0, section 12.2.1 to 12.2.3). The others are dropped when they are set,
// so that MPI_Win_get_info returns only those in force.
#pragma once

#include "objects/object/info.hpp"

namespace heddle::rma {

// Those of `info`, which may be null.
InfoEntries known_hints(const Info* info);

}  // namespace heddle::rma
