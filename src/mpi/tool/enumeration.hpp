// Enumerations: names of the values that a variable can have (MPI 5.0, section 15.3.5).
#pragma once

#include <mpi.h>

#include <span>

namespace heddle::tool {

// The value of an item is its place.
struct Enumeration {
  const char* name;
  std::span<const char* const> items;
};

// The values of HEDDLE_INITIAL_ERRHANDLER.
extern const Enumeration initial_errhandlers;

MPI_T_enum handle_of(const Enumeration& enumeration);
// Null: there is no such enumeration.
const Enumeration* find_enumeration(MPI_T_enum handle);

}  // namespace heddle::tool
