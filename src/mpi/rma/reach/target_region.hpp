// The place of an operation's data at a target: a layout, in memory that this process can access or in that of another
// process. Bounds and epochs are checked by then (access.hpp).
#pragma once

#include "mpi/rma/reach/process_memory.hpp"
#include "objects/object/error.hpp"

namespace heddle::rma {

struct TargetRegion {
  Layout layout;
  pid_t process;  // the process of that address space; boot::this_process: ours
};

// The source of an operation must fit into its destination, or the error is MPI_ERR_TRUNCATE.
Error check_fits(std::size_t from, std::size_t to);

// All of it between our own address space and that of another process. It fits.
Error write_far(const Layout& from, const TargetRegion& to);
Error read_far(const TargetRegion& from, const Layout& to);

// n bytes of its packed stream, from `skip` on.
Error load(const TargetRegion& from, std::size_t skip, void* out, std::size_t n);
Error store(const TargetRegion& to, std::size_t skip, const void* in, std::size_t n);

}  // namespace heddle::rma
