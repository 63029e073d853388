// Memory attached to dynamic windows (MPI 5.0, section 12.2.4): each member's table of regions lies in shared memory,
// so that an origin can check its accesses.
#pragma once

#include "mpi/rma/reach/process_memory.hpp"
#include "mpi/rma/window.hpp"

namespace heddle::rma {

Error attach(Window& window, const void* base, MPI_Aint size);
Error detach(Window& window, const void* base);

// True if all of this layout, which lies within [first, end), is attached at that member.
Error check_attached(Window& window, int member, const Layout& layout, MPI_Aint first, MPI_Aint end);

// The end of this member's table.
void release_attachments(Window& window);

}  // namespace heddle::rma
