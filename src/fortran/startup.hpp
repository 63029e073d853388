// What the entry points of initialization do first.
#pragma once

namespace heddle::fortran {

// Tells the MPI library about Fortran's types, if nobody has. Its answer does not matter: a library that cannot be told has
// types of the usual widths.
void prepare();

}  // namespace heddle::fortran
