// Values of attributes on their way between the languages (MPI 5.0, section 19.3.7). C sets a pointer, and Fortran gets
// it as an INTEGER. Fortran sets an INTEGER, and C gets its address: so the value lies in memory of ours, whose address
// MPI keeps.
#pragma once

#include <mpi.h>

namespace heddle::fortran {

// Takes memory for a value that Fortran sets. C reads it as an MPI_Aint, and as an int if an INTEGER was set.
void* keep_value(MPI_Aint value);
// Gives it back; does nothing with a pointer of C's.
void forget_value(void* attribute);

// The value for Fortran.
MPI_Aint value_of(void* attribute);

// For an object that is a copy: memory of its own for a value of Fortran's, the same pointer for one of C's.
void* copy_of_value(void* attribute);

}  // namespace heddle::fortran
