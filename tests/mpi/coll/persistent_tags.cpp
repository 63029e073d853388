// A persistent collective that is there while 2^24 others come and go: the tags of its messages are unique. It may be
// said that there is none left; what may not be is that two operations get each other's messages.
#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

constexpr int sequences = 1 << 24;

// Two broadcasts under way at the same time, which rank 0 starts in one order and the others in the other.
void crosswise(MPI_Request* first, MPI_Request* second) {
  MPI_Request* const order[] = {test::rank() == 0 ? first : second, test::rank() == 0 ? second : first};
  for (MPI_Request* request : order) MPI_Start(request);
  for (MPI_Request* request : order) MPI_Wait(request, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const bool root = test::rank() == 0;
  int a = root ? 1 : 0, b = root ? 2 : 0, refused = 0;
  MPI_Request first, second, other;
  MPI_Bcast_init(&a, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &first);
  for (int i = 0; i < sequences - 1; ++i) {
    MPI_Barrier_init(comm, MPI_INFO_NULL, &other);
    MPI_Request_free(&other);
  }
  while (MPI_Bcast_init(&b, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &second) != MPI_SUCCESS) ++refused;
  check(refused <= 1, "only those that meet one that lives are refused");
  for (int round = 0; round < 3; ++round) {
    crosswise(&first, &second);
    equal(a, 1, "the first broadcast");
    equal(b, 2, "the second broadcast");
    if (!root) a = b = 0;
  }
  MPI_Request_free(&first);
  MPI_Request_free(&second);
  MPI_Comm_free(&comm);
}
