// Two ranks of different nodes that have talked over UCX, and the end of their processes: UCX's destructors free what its calls need, while a
// communication thread is still there. UCX ends slowly here, so that late calls of it still happen.
#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "mpi/check.hpp"

using namespace test;

namespace {

constexpr unsigned slow = 300'000, slower = 1'500'000;  // microseconds

std::atomic<bool> ends{false};
int own_rank = -1;

}  // namespace

// UCX calls it when it has freed its table of handlers, and does not mind that it is ours. Rank 1 ends first: that its connection is closed is
// what threads of rank 0 wake for.
extern "C" [[gnu::visibility("default")]] int pthread_rwlock_destroy(pthread_rwlock_t*) noexcept {
  if (!ends.exchange(false)) return 0;
  usleep(own_rank == 0 ? slower : slow);
  if (own_rank == 0) (void)!write(STDOUT_FILENO, "UCX has ended\n", 14);
  return 0;
}

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  equal(size(), 2, "ranks");
  own_rank = rank();
  int out = rank(), in = -1;
  equal(
      MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank(), 0, &in, 1, MPI_INT, 1 - rank(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
      MPI_SUCCESS, "an exchange");
  equal(in, 1 - rank(), "what arrived");
  MPI_Barrier(MPI_COMM_WORLD);
  ends = true;
}
