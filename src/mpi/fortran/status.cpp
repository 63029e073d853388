#include "mpi/fortran/arguments.hpp"

namespace heddle::fortran {

// The integers of a status are the same in both languages, in the same order.
void to_c(const Fint* from, MPI_Status& to) {
  int values[status_size];
  for (std::ptrdiff_t i = 0; i < status_size; ++i) values[i] = static_cast<int>(from[i]);
  std::memcpy(&to, values, sizeof(to));
}

void to_fortran(const MPI_Status& from, Fint* to) {
  int values[status_size];
  std::memcpy(values, &from, sizeof(from));
  for (std::ptrdiff_t i = 0; i < status_size; ++i) to[i] = values[i];
}

}  // namespace heddle::fortran
