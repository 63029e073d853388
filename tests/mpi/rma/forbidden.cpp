// Where the kernel does not let processes reach each other's memory, as in some containers: windows over the program's own
// memory are reached by messages, and allocated ones as ever.
#include "harness.hpp"
#include "mpi/kernel_copy.hpp"

using namespace test;

int main(int argc, char** argv) {
  const bool forbidden = forbid_kernel_copy();
  const test::Session session(&argc, &argv);
  check(forbidden, "seccomp");
  for (Flavor flavor : flavors()) {
    Window<int> window(flavor, 1);
    const int target = (rank() + 1) % size();
    const int left = (rank() + size() - 1) % size();
    MPI_Win_fence(0, window.win);
    MPI_Put(&target, 1, MPI_INT, target, window.disp(target), 1, MPI_INT, window.win);
    MPI_Win_fence(0, window.win);
    equal(window.data[0], rank(), name(flavor));
    MPI_Barrier(MPI_COMM_WORLD);
    int theirs = -1;
    const int one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, left, 0, window.win);
    MPI_Fetch_and_op(&one, &theirs, MPI_INT, left, window.disp(left), MPI_SUM, window.win);
    MPI_Win_unlock(left, window.win);
    equal(theirs, left, name(flavor));
    MPI_Barrier(MPI_COMM_WORLD);
    equal(window.data[0], rank() + 1, name(flavor));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
