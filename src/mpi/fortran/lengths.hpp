// The lengths of arrays without an argument for it.
#pragma once

#include <cstddef>

#include "mpi/fortran/integer.hpp"

namespace heddle::fortran {

std::ptrdiff_t dimensions(const Fint* comm);  // of a Cartesian communicator
std::ptrdiff_t peers(const Fint* comm);       // of a collective operation: its size, or that of the other group
std::ptrdiff_t sources(const Fint* comm);     // neighbours from which a neighbourhood collective receives
std::ptrdiff_t targets(const Fint* comm);     // ... to which it sends
std::ptrdiff_t last(const Fint* index, const Fint* size);  // the last element, or 0
std::ptrdiff_t sum(const Fint* degrees, const Fint* size);

}  // namespace heddle::fortran
