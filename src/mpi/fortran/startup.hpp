// What follows initialization.
#pragma once

namespace heddle::fortran {

// Tells an MPI library that has been initialized about Fortran's types, if nobody has; `code` is what initialization returned, and
// is returned. The library's answer does not matter: one that cannot be told has types of the usual widths. Not before
// initialization, where the standard would have it: MPICH 5.0 ends the program then.
int started(int code);

}  // namespace heddle::fortran
