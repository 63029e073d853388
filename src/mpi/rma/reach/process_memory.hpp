// Memory of another process of the machine, read and written by the kernel for us (process_vm_readv and _writev): the
// access to windows over memory that the program has allocated itself, without help of the target.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "launch/boot/peer_memory.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle::rma {

// A layout in some address space; `at` is an address there.
struct Layout {
  const Datatype* type;
  void* at;
  MPI_Count count;

  std::size_t bytes() const { return packed_size(*type, count); }
};

// Moves bytes between a layout of ours and one of a process that is within reach (launch/boot/peer_memory.hpp): `n` bytes, from
// `skip` on in the packed stream of theirs. 0 or an errno.
int move_far(boot::Direction direction, pid_t process, const Layout& ours, const Layout& theirs, std::size_t skip,
             std::size_t n);

}  // namespace heddle::rma
