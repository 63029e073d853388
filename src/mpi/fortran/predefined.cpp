// The predefined callbacks. MPI never calls those of attributes, since it gets C's constants instead; a program may,
// and calls them from copy functions of its own.
#include "mpi/fortran/predefined.hpp"

#include <mpi.h>

#include "mpi/fortran/integer.hpp"

using heddle::fortran::Fint;

extern "C" {
#pragma GCC visibility push(default)

void mpi_comm_null_copy_fn_(Fint*, Fint*, MPI_Aint*, MPI_Aint*, MPI_Aint*, Fint* flag, Fint* ierror) {
  *flag = heddle::fortran::logical_false;
  *ierror = MPI_SUCCESS;
}

void mpi_comm_dup_fn_(Fint*, Fint*, MPI_Aint*, MPI_Aint* in, MPI_Aint* out, Fint* flag, Fint* ierror) {
  *out = *in;
  *flag = heddle::fortran::logical_true;
  *ierror = MPI_SUCCESS;
}

void mpi_comm_null_delete_fn_(Fint*, Fint*, MPI_Aint*, MPI_Aint*, Fint* ierror) { *ierror = MPI_SUCCESS; }

[[gnu::alias("mpi_comm_null_copy_fn_")]] void mpi_type_null_copy_fn_(Fint*, Fint*, MPI_Aint*, MPI_Aint*, MPI_Aint*,
                                                                     Fint*, Fint*);
[[gnu::alias("mpi_comm_null_copy_fn_")]] void mpi_win_null_copy_fn_(Fint*, Fint*, MPI_Aint*, MPI_Aint*, MPI_Aint*,
                                                                    Fint*, Fint*);
[[gnu::alias("mpi_comm_dup_fn_")]] void mpi_type_dup_fn_(Fint*, Fint*, MPI_Aint*, MPI_Aint*, MPI_Aint*, Fint*, Fint*);
[[gnu::alias("mpi_comm_dup_fn_")]] void mpi_win_dup_fn_(Fint*, Fint*, MPI_Aint*, MPI_Aint*, MPI_Aint*, Fint*, Fint*);
[[gnu::alias("mpi_comm_null_delete_fn_")]] void mpi_type_null_delete_fn_(Fint*, Fint*, MPI_Aint*, MPI_Aint*, Fint*);
[[gnu::alias("mpi_comm_null_delete_fn_")]] void mpi_win_null_delete_fn_(Fint*, Fint*, MPI_Aint*, MPI_Aint*, Fint*);

// Those of MPI-1, whose values are default integers.
void mpi_null_copy_fn_(Fint*, Fint*, Fint*, Fint*, Fint*, Fint* flag, Fint* ierror) {
  *flag = heddle::fortran::logical_false;
  *ierror = MPI_SUCCESS;
}

void mpi_dup_fn_(Fint*, Fint*, Fint*, Fint* in, Fint* out, Fint* flag, Fint* ierror) {
  *out = *in;
  *flag = heddle::fortran::logical_true;
  *ierror = MPI_SUCCESS;
}

void mpi_null_delete_fn_(Fint*, Fint*, Fint*, Fint*, Fint* ierror) { *ierror = MPI_SUCCESS; }

void mpi_conversion_fn_null_(void*, Fint*, Fint*, void*, MPI_Offset*, MPI_Aint*, Fint* ierror) {
  *ierror = MPI_ERR_UNSUPPORTED_DATAREP;  // a value to compare with, not a conversion
}

void mpi_conversion_fn_null_c_(void*, Fint*, MPI_Count*, void*, MPI_Offset*, MPI_Aint*, Fint* ierror) {
  *ierror = MPI_ERR_UNSUPPORTED_DATAREP;
}

#pragma GCC visibility pop
}

namespace heddle::fortran {
namespace {

template <class... Functions>
bool is_one_of(Procedure procedure, Functions*... functions) {
  return ((procedure == reinterpret_cast<Procedure>(functions)) || ...);
}

}  // namespace

bool is_null_conversion(Procedure procedure) {
  return is_one_of(procedure, mpi_conversion_fn_null_, mpi_conversion_fn_null_c_);
}

bool is_null_copy(Procedure procedure) {
  return is_one_of(procedure, mpi_comm_null_copy_fn_, mpi_type_null_copy_fn_, mpi_win_null_copy_fn_, mpi_null_copy_fn_);
}

bool is_dup(Procedure procedure) {
  return is_one_of(procedure, mpi_comm_dup_fn_, mpi_type_dup_fn_, mpi_win_dup_fn_, mpi_dup_fn_);
}

bool is_null_delete(Procedure procedure) {
  return is_one_of(procedure, mpi_comm_null_delete_fn_, mpi_type_null_delete_fn_, mpi_win_null_delete_fn_,
                   mpi_null_delete_fn_);
}

}  // namespace heddle::fortran
