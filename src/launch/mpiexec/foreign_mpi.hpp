// Finds the MPI library that a rank has loaded while it runs, as an interpreter or a plugin does: the files read before
// the start (linked_libraries.hpp) do not show it.
//
// Only the kernel is asked, so nothing is put into the ranks. A library of another MPI is recognized by its name, and
// its initialization by how much of its zero-initialized memory has been written: hardly any before, some hundred KiB
// after (docs/adr/0095).
#pragma once

#include <sys/types.h>

#include <string>

namespace heddle::mpiexec {

struct ForeignMpi {
  std::string path, family;
  bool is_own = false;    // of the process itself, not of one that it has started
  bool has_ours = false;  // Heddle's library is loaded beside it
  explicit operator bool() const { return !path.empty(); }
};

// One that the process or a child has initialized; none, also if unknown.
ForeignMpi foreign_mpi_of(pid_t process);

}  // namespace heddle::mpiexec
