// Making windows and taking them apart, whatever their flavor.
#pragma once

#include "objects/object/error.hpp"
#include "objects/object/info.hpp"
#include "objects/object/win.hpp"

namespace heddle::rma {

// A process's part of a window.
struct Part {
  int flavor;
  void* base = nullptr;  // MPI_Win_create: its memory
  MPI_Aint size = 0;
  MPI_Aint disp_unit = 1;
  bool contiguous = false;  // MPI_Win_allocate_shared: the members' memory is contiguous
};

// Collective over `comm`; if it fails, it fails for all.
Error create(Comm& comm, const Part& part, const Info* info, MPI_Win* win);

// Collective over the window's group.
Error destroy(Win& win);

}  // namespace heddle::rma
