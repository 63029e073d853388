// Fibers that wait for messages that never come.
#include <mpi.h>

#include <boost/fiber/fiber.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<boost::fibers::fiber> fibers;
  for (int i = 0; i < 8; ++i)
    fibers.emplace_back([i] {
      int value;
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  for (boost::fibers::fiber& fiber : fibers) fiber.join();
  MPI_Finalize();
}
