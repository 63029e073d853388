// The one place where communicators are built and taken apart.
#pragma once

#include "objects/object/comm.hpp"
#include "objects/object/group.hpp"

namespace heddle {

// The parts of a new communicator. The groups' and the local communicator's references pass to it.
struct CommParts {
  Context context = 0;
  Group* local_group = nullptr;
  Group* remote_group = nullptr;     // intercommunicators only
  Comm* local_comm = nullptr;        // intercommunicators only
  Errhandler* errhandler = nullptr;  // null: that of MPI_COMM_SELF, or the initial one
};

Comm* make_comm(Rank& rank, const CommParts& parts);

// One that takes its error handler from `parent` (section 9.3), and its session.
Comm* make_child(Comm& parent, const CommParts& parts);

// The user's free: the attributes are deleted, then the handle is dead; the rest lives until its last use. If an
// attribute's delete function fails, the communicator stays.
Error free_comm(Comm& comm);

}  // namespace heddle
