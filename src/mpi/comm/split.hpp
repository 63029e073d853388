// Splitting a communicator: the common part of MPI_Comm_split, MPI_Comm_create and the topologies.
#pragma once

#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"

namespace heddle {

struct Info;

// Collective over `parent`. The processes of one color (not negative) form a new communicator, ordered by key and then
// by rank in `parent`; with MPI_UNDEFINED, and on an intercommunicator if the other side has no such color, the result
// is null. A new communicator inherits only the error handler of its parent; `info` may request a safety model.
Error split(Comm& parent, int color, int key, Comm*& child, const Info* info = nullptr);

}  // namespace heddle
