// The description of a program by MPI_Comm_spawn and MPI_Comm_spawn_multiple, in the form of a request to mpiexec.
#pragma once

#include "launch/boot/spawn_request.hpp"
#include "objects/object/error.hpp"
#include "objects/object/info.hpp"

namespace heddle::dpm {

// `argv`: the arguments without the program, or MPI_ARGV_NULL. These of the reserved keys (MPI 5.0, section 11.8.4) are
// used: host, wdir, path, soft and mpi_initial_errhandler. Fails if their values are invalid.
Error describe_program(const char* command, char** argv, int maxprocs, const Info* info, boot::SpawnProgram& program);

}  // namespace heddle::dpm
