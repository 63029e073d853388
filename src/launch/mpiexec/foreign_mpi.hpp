// The MPI library that a rank has loaded while it runs, as an interpreter or a plugin does: what the files say before the
// start (linked_libraries.hpp) cannot tell.
//
// Only the kernel is asked, so nothing is put into the ranks. A library of another MPI is told by its name, and whether the
// process has initialized it by how much of its zero-initialized memory has been written: hardly any before, some hundred KiB
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

// One that the process, or one that it has started, has initialized; none, also if that cannot be told.
ForeignMpi foreign_mpi_of(pid_t process);

}  // namespace heddle::mpiexec
