// A window: memory that the processes of a group open to each other (MPI 5.0, section 12.2). Data movement and epochs
// are in rma/; here is the part that a window has in common with other objects.
#pragma once

#include <mpi.h>

#include <mutex>
#include <string>

#include "base/threads/mutex.hpp"
#include "objects/object/attribute.hpp"
#include "objects/object/errhandler.hpp"
#include "objects/object/info.hpp"
#include "objects/object/object.hpp"

namespace heddle {

struct Comm;
namespace rma {
class Window;
}

struct Win final : Object {
  static constexpr Kind object_kind = Kind::win;
  Win() : Object(Kind::win) {}

  Comm* comm = nullptr;  // the window's own, with the processes that made it
  rma::Window* window = nullptr;
  ErrhandlerSlot errhandler;
  AttributeSet attributes;

  // Values of the predefined attributes; users hold pointers to them (section 12.2.6).
  struct Predefined {
    void* base = nullptr;
    MPI_Aint size = 0;
    int disp_unit = 1;
    int flavor = MPI_WIN_FLAVOR_CREATE;
    int model = MPI_WIN_UNIFIED;
  } predefined;

  threads::Mutex mutex;  // guards the members below
  InfoEntries hints;     // set by the program and meaningful here
  std::string name;      // at most MPI_MAX_OBJECT_NAME-1 characters
};

}  // namespace heddle
