#include <mpi.h>

int version(int* minor) {
  int major = 0;
  MPI_Get_version(&major, minor);
  return major;
}
