// Info hints that mean something on a communicator (MPI 5.0, section 7.4.4). The others are dropped when they are set,
// so that MPI_Comm_get_info tells only what is in force.
#pragma once

#include "object/comm.hpp"
#include "object/info.hpp"

namespace heddle {

// Those of `info`, which may be null.
InfoEntries known_hints(const Info* info);

// The promises (object/comm.hpp) that a process with these hints makes.
Context promised(const InfoEntries& hints);

}  // namespace heddle
