#include "mpi/fortran/sentinels.hpp"

#include <mpi.h>

// The names are those that Fortran compilers give the common blocks of mpif.h. The statuses of mpi_f08 have another type, so they
// are other variables. The installed mpi.h declares all four for C.
extern "C" {
[[gnu::visibility("default")]] heddle::fortran::Fint mpi_fortran_bottom_ = 0;
[[gnu::visibility("default")]] heddle::fortran::Fint mpi_fortran_in_place_ = 0;
[[gnu::visibility("default")]] heddle::fortran::Fint mpi_fortran_buffer_automatic_ = 0;
[[gnu::visibility("default")]] heddle::fortran::Fint mpi_fortran_status_ignore_[8] = {};
[[gnu::visibility("default")]] heddle::fortran::Fint mpi_fortran_statuses_ignore_[8] = {};
[[gnu::visibility("default")]] heddle::fortran::Fint mpi_f08_status_ignore_[8] = {};
[[gnu::visibility("default")]] heddle::fortran::Fint mpi_f08_statuses_ignore_[8] = {};
[[gnu::visibility("default")]] heddle::fortran::Fint mpi_fortran_unweighted_[1] = {};
[[gnu::visibility("default")]] heddle::fortran::Fint mpi_fortran_weights_empty_[1] = {};
[[gnu::visibility("default")]] heddle::fortran::Fint mpi_fortran_errcodes_ignore_[1] = {};
[[gnu::visibility("default")]] char mpi_fortran_argv_null_[1] = {};
[[gnu::visibility("default")]] char mpi_fortran_argvs_null_[1] = {};
}

namespace heddle::fortran {

void* buffer_at(void* address) {
  if (address == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  if (address == &mpi_fortran_bottom_) return MPI_BOTTOM;
  if (address == &mpi_fortran_buffer_automatic_) return MPI_BUFFER_AUTOMATIC;
  return address;
}

void* address_of_buffer(void* from_c) {
  return from_c == MPI_BUFFER_AUTOMATIC ? &mpi_fortran_buffer_automatic_ : from_c;
}

bool is_in_place(const void* buffer) { return buffer == &mpi_fortran_in_place_; }

bool is_status_ignore(const Fint* status) {
  return status == mpi_fortran_status_ignore_ || status == mpi_fortran_statuses_ignore_ ||
         status == mpi_f08_status_ignore_ || status == mpi_f08_statuses_ignore_;
}

int* weights_sentinel(const Fint* weights) {
  if (weights == mpi_fortran_unweighted_) return MPI_UNWEIGHTED;
  if (weights == mpi_fortran_weights_empty_) return MPI_WEIGHTS_EMPTY;
  return nullptr;
}

bool is_errcodes_ignore(const Fint* codes) { return codes == mpi_fortran_errcodes_ignore_; }
bool is_argv_null(const char* argv) { return argv == mpi_fortran_argv_null_; }
bool is_argvs_null(const char* argvs) { return argvs == mpi_fortran_argvs_null_; }

}  // namespace heddle::fortran
