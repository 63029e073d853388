#include <mpi.h>
#include <mpi.h> /* twice does no harm */

MPI_Status abi_status;
