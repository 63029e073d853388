// Steps after initialization.
#pragma once

namespace heddle::fortran {

// Reports Fortran's types to an MPI library that has been initialized, if that was not done; `code` is the result of
// initialization, and is returned. The library's answer does not matter: one without support has types of the usual
// widths. Not before initialization, where the standard would have it: MPICH 5.0 ends the program then.
int started(int code);

}  // namespace heddle::fortran
