// An access that fails under a fatal handler: the test reads what is said.
#include "mpi/io/file.hpp"

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  MPI_File file;
  MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
  const char byte = 0;
  MPI_File_write(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE);
  std::printf("the program goes on\n");
}
