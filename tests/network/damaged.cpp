// Two ranks that send each other messages of every kind that there is between nodes: short and long ones, synchronous ones, and such as are
// cancelled. It checks nothing of what comes: over a network that invents messages (nonsense.cpp) that may be anything.
#include <cstdlib>
#include <vector>

#include "mpi/check.hpp"

using namespace test;

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  equal(size(), 2, "ranks");
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  const int peer = 1 - rank();
  std::vector<char> out(100'000), in(out.size());
  for (int round = 0; round < rounds; ++round)
    for (const int bytes : {0, 100, 1'000, 20'000, 100'000}) {
      MPI_Request requests[4];
      MPI_Irecv(in.data(), bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Issend(out.data(), bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[1]);
      MPI_Isend(out.data(), bytes, MPI_CHAR, peer, 2, MPI_COMM_WORLD, &requests[2]);
      MPI_Issend(out.data(), bytes, MPI_CHAR, peer, 3, MPI_COMM_WORLD, &requests[3]);
      MPI_Cancel(&requests[3]);
      MPI_Recv(in.data(), bytes, MPI_CHAR, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}
