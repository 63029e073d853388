/* A program that is linked with the library of a network itself. */
#include <mpi.h>
#include <ucp/api/ucp.h>

int main(int argc, char** argv) {
  unsigned major, minor, release;
  ucp_get_version(&major, &minor, &release);
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}
