// Errors that only this library finds.
#pragma once

#include <mpi.h>

namespace heddle::fortran {

// Makes an error code of the class with this text and calls the error handler of the object with it, or that of MPI_COMM_SELF.
// Returns the code.
int complain(MPI_Comm comm, int error_class, const char* text);
int complain(MPI_Win win, int error_class, const char* text);
int complain(MPI_File file, int error_class, const char* text);
int complain(int error_class, const char* text);

}  // namespace heddle::fortran
