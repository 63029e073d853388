// Two groups become an intercommunicator: the common part of MPI_Intercomm_create and the like, for any way that
// connects the leaders of the groups.
#pragma once

#include <mpi.h>

#include <vector>

#include "network/function_ref.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/group.hpp"

namespace heddle {

// The data that a leader gets from the other one, and sends to its own group.
struct Remote {
  int error = MPI_SUCCESS;  // the leader could not do its part; nothing else is set then
  int size = 0;
  Context offered = 0;  // by that leader, for the intercommunicator
  Context local = 0;    // for the local group's own communicator
  std::vector<int> world_ranks;
};

std::vector<int> world_ranks_of(const Group& group);

// Collective over the local group's communicator. `exchange` is called at the leader only, with the context that it offers for
// the intercommunicator, and fills `remote`; the context of the leading group is taken (exchange.hpp). A null `errhandler`:
// that of local_comm.
Error join_groups(Comm& local_comm, int leader, Errhandler* errhandler, int asked_model,
                  lln::FunctionRef<Error(const Group& local, Context offered, Remote& remote)> exchange,
                  Comm*& intercomm);

}  // namespace heddle
