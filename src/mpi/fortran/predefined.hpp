// The predefined callbacks are procedures in Fortran and constants in C.
#pragma once

#include "mpi/fortran/procedure.hpp"

namespace heddle::fortran {

bool is_null_conversion(Procedure procedure);
bool is_null_copy(Procedure procedure);
bool is_dup(Procedure procedure);
bool is_null_delete(Procedure procedure);

}  // namespace heddle::fortran
