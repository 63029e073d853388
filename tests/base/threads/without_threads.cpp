// Fibers of one kernel thread wait for messages that come late, in a process that cannot have another kernel thread.
#include <cstdio>

#include "mpi/check.hpp"
#include "runtime.hpp"

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  constexpr int fibers = 3;
  if (test::rank() == 0) {
    test::in_threads(fibers, [](int tag) {
      int value = 0;
      if (tag == 0) {  // a condition and no request
        MPI_Probe(1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      MPI_Recv(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      test::equal(value, tag, "what came");
    });
    std::printf("all messages came\n");
  } else {
    for (int tag = fibers; tag-- > 0;) {
      test::sleep(std::chrono::milliseconds(100));
      MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    }
  }
}
