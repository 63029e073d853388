// A rank that waits for locks sleeps, also where several wait for what the others have: an attempt that fails wakes no rank whose
// own attempt then fails and wakes the first again.
#include <sys/resource.h>

#include <chrono>

#include "harness.hpp"

using namespace test;

namespace {

// How often this process went to sleep, of its own will.
long sleeps() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_nvcsw;
}

}  // namespace

// The last rank holds itself exclusively and rank 0 shared. Rank 0 wants itself exclusively, all others want all targets.
int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  Window<int> window(Flavor::allocate, 1);
  const int last = size() - 1;
  if (rank() == last) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, window.win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = sleeps();
  if (rank() == last) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    MPI_Win_unlock(0, window.win);
    MPI_Win_unlock(last, window.win);
  } else if (rank() == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
    MPI_Win_unlock(0, window.win);
  } else {
    MPI_Win_lock_all(0, window.win);
    MPI_Win_unlock_all(window.win);
  }
  const long times = sleeps() - before;
  MPI_Barrier(MPI_COMM_WORLD);
  std::printf("rank %d went to sleep %ld times\n", rank(), times);
  // The events that a rank sleeps and wakes for have a thread of their own where there are several nodes, and a process may have several ranks.
  check(times < (shares_memory() ? 20 : 20 * size()), "no rank is woken repeatedly without result");
}
