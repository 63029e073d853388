// The error handler that communicators begin with is the one that mpiexec was told: initial_errhandler NAME.
#include <string>

#include "mpi/check.hpp"

namespace {

void begins_with(MPI_Comm comm, MPI_Errhandler expected) {
  MPI_Errhandler errhandler;
  MPI_Comm_get_errhandler(comm, &errhandler);
  test::check(errhandler == expected, "the initial error handler");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const std::string name = argv[1];
  const MPI_Errhandler expected = name == "mpi_errors_return"  ? MPI_ERRORS_RETURN
                                  : name == "mpi_errors_abort" ? MPI_ERRORS_ABORT
                                                               : MPI_ERRORS_ARE_FATAL;
  begins_with(MPI_COMM_WORLD, expected);
  begins_with(MPI_COMM_SELF, expected);
  MPI_Comm child;
  MPI_Comm_dup(MPI_COMM_WORLD, &child);
  begins_with(child, expected);
  MPI_Comm_free(&child);
}
