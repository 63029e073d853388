// Variables that a Fortran program passes instead of an argument, recognized by their address. Each is one object for
// all three interfaces (mpif.h's common blocks, the variables of the modules), except for the statuses, which are
// others in mpi_f08. The program may have the valid copy.
#pragma once

#include "mpi/fortran/integer.hpp"

namespace heddle::fortran {

// MPI_BOTTOM, MPI_IN_PLACE and MPI_BUFFER_AUTOMATIC as C has them; any other address is itself.
void* buffer_at(void* address);
// The other direction, for a buffer that MPI returns.
void* address_of_buffer(void* from_c);
bool is_in_place(const void* buffer);

// Also MPI_STATUSES_IGNORE.
bool is_status_ignore(const Fint* status);
// C's MPI_UNWEIGHTED or MPI_WEIGHTS_EMPTY; else null.
int* weights_sentinel(const Fint* weights);
bool is_errcodes_ignore(const Fint* codes);
bool is_argv_null(const char* argv);
bool is_argvs_null(const char* argvs);

}  // namespace heddle::fortran
