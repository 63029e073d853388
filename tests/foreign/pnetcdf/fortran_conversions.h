// The conversions between C's handles and Fortran's, which the header of the standard ABI leaves out because it does not know how
// wide an INTEGER is. The library has them for 4 bytes. PnetCDF's Fortran interface is written in C and calls them.
#pragma once

#if __has_include(<mpi.h>)  // its programs that are no MPI programs find none
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int MPI_Fint;

MPI_Comm MPI_Comm_f2c(MPI_Fint comm);
MPI_Fint MPI_Comm_c2f(MPI_Comm comm);
MPI_Info MPI_Info_f2c(MPI_Fint info);
MPI_Fint MPI_Info_c2f(MPI_Info info);
MPI_Datatype MPI_Type_f2c(MPI_Fint datatype);
MPI_Fint MPI_Type_c2f(MPI_Datatype datatype);

#ifdef __cplusplus
}
#endif
#endif
