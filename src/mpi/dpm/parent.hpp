// Parents send a greeting to the processes that they have spawned, so that these can make their side of the
// intercommunicator.
#pragma once

#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/group.hpp"

namespace heddle::dpm {

// The root of a spawn sends its group, and the context of the intercommunicator, to the first of the new processes.
Error greet_spawned(Rank& rank, Context greeting, int first_spawned, const Group& parents, Context intercomm);

// In MPI_Init, collective over the world: if we were spawned, makes the intercommunicator with the parents
// (MPI_Comm_get_parent). Waits for their greeting.
Error connect_to_parent(Rank& rank);

}  // namespace heddle::dpm
