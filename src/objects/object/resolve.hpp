// From handles to objects: `object(handle)` is the object, or null if the handle is not live, not of that kind, or MPI
// is not running. Handles that we made contain the object's address (object.hpp); the standard's constants are looked
// up in the calling rank.
#pragma once

#include <mpi.h>

#include "launch/rank/rank.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/group.hpp"
#include "objects/object/object.hpp"
#include "objects/object/request.hpp"

namespace heddle {

struct Op;
struct Info;
struct Errhandler;
struct Session;
struct Message;
struct Win;
struct File;

inline Comm* object(MPI_Comm handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value >= arena::first_user_handle) return live_object<Comm>(value);
  if (handle == MPI_COMM_WORLD) return current_rank().world;
  if (handle == MPI_COMM_SELF) return current_rank().self;
  return nullptr;
}

inline Datatype* object(MPI_Datatype handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value >= arena::first_user_handle) return live_object<Datatype>(value);
  return predefined_datatype(handle);
}

inline Request* object(MPI_Request handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value >= arena::first_user_handle ? live_object<Request>(value) : nullptr;
}

// The kinds whose handles are not looked up on the critical path of a message; each is defined beside its object.
Group* object(MPI_Group handle);
Op* object(MPI_Op handle);
Info* object(MPI_Info handle);
Errhandler* object(MPI_Errhandler handle);
Session* object(MPI_Session handle);
Message* object(MPI_Message handle);
Win* object(MPI_Win handle);
File* object(MPI_File handle);

// The handle of an object, of which MPI_COMM_WORLD and the like have the standard's constant.
template <class Handle, class T>
Handle handle_of(const T& object) {
  return reinterpret_cast<Handle>(object.handle);
}

}  // namespace heddle
