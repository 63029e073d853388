// The types of the Fortran interfaces in C. They are not part of the C ABI's mpi.h, which does not define the width of
// a Fortran INTEGER; here it is an int.
#pragma once

#include <mpi.h>

using MPI_Fint = int;

// TYPE(MPI_Status) of the module mpi_f08.
struct MPI_F08_status {
  MPI_Fint MPI_SOURCE;
  MPI_Fint MPI_TAG;
  MPI_Fint MPI_ERROR;
  MPI_Fint MPI_internal[5];
};
static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status));
