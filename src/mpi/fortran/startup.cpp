#include "mpi/fortran/startup.hpp"

#include <mpi.h>

#include <atomic>

#include "mpi/fortran/handles.hpp"
#include "mpi/fortran/integer.hpp"

namespace heddle::fortran {
namespace {

// MPI_2INTEGER of wide integers, once a program has used it.
std::atomic<MPI_Datatype> pair = nullptr;

// Null where the library cannot make it.
MPI_Datatype pair_of_integers() {
  MPI_Datatype made = pair.load();
  if (!made && MPI_Type_get_value_index(MPI_INTEGER8, MPI_INTEGER8, &made) == MPI_SUCCESS) pair = made;
  return made ? made : MPI_DATATYPE_NULL;
}

void tell() {
  MPI_Info told = MPI_INFO_NULL;
  if (MPI_Abi_get_fortran_info(&told) != MPI_SUCCESS) return;
  if (told != MPI_INFO_NULL) {
    MPI_Info_free(&told);
    return;
  }
  MPI_Info sizes = MPI_INFO_NULL;
  if (MPI_Info_create(&sizes) != MPI_SUCCESS) return;
  MPI_Info_set(sizes, "mpi_logical_size", "4");
  MPI_Info_set(sizes, "mpi_integer_size", "4");
  MPI_Info_set(sizes, "mpi_real_size", "4");
  MPI_Info_set(sizes, "mpi_double_precision_size", "8");
  MPI_Abi_set_fortran_info(sizes);
  MPI_Info_free(&sizes);
  Fint yes = logical_true, no = logical_false;
  MPI_Abi_set_fortran_booleans(sizeof(Fint), &yes, &no);
}

}  // namespace

MPI_Datatype datatype_of(int number) {
  const MPI_Datatype type = MPI_Type_fromint(number);
  if constexpr (wide_integers) {
    if (type == MPI_INTEGER) return MPI_INTEGER8;
    if (type == MPI_LOGICAL) return MPI_LOGICAL8;
    if (type == MPI_2INTEGER) return pair_of_integers();
  }
  return type;
}

Fint number(MPI_Datatype type) {
  if constexpr (wide_integers) {
    if (type == MPI_INTEGER8) return MPI_Type_toint(MPI_INTEGER);
    if (type == MPI_LOGICAL8) return MPI_Type_toint(MPI_LOGICAL);
    if (type != MPI_DATATYPE_NULL && type == pair.load()) return MPI_Type_toint(MPI_2INTEGER);
  }
  return MPI_Type_toint(type);
}

int started(int code) {
  // With wide integers the library keeps using narrow ones, and datatype_of() translates: a library need not support a
  // change, and a C part of the program may have set them first.
  if (code != MPI_SUCCESS || wide_integers) return code;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler) != MPI_SUCCESS) return code;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  tell();
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Errhandler_free(&handler);
  return code;
}

}  // namespace heddle::fortran
