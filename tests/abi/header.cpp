#include <mpi.h>
#include <mpi.h>  // twice does no harm

MPI_Status abi_status;
static_assert(sizeof(MPI_Status) == 32, "as the ABI says");
