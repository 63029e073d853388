// Two ranks of different nodes that talk until a file is there, which the test makes when it has done its worst: short messages and long
// ones, all of which are as they were sent.
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "mpi/check.hpp"

using namespace test;

namespace {

constexpr int few = 16, many = 40'000;  // of ints

void exchange(int round, int count) {
  std::vector<int> out(static_cast<std::size_t>(count), round + rank()), in(out.size(), -1);
  const int peer = 1 - rank();
  equal(MPI_Sendrecv(out.data(), count, MPI_INT, peer, 0, in.data(), count, MPI_INT, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE),
        MPI_SUCCESS, "an exchange");
  for (const int value : in) equal(value, round + peer, "what arrived");
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  equal(size(), 2, "ranks");
  check(argc == 2, "the file's name");
  int goes_on = 1;
  for (int round = 0; goes_on != 0; ++round) {
    exchange(round, few);
    exchange(round, many);
    if (round == 0 && rank() == 0) {
      std::puts("talking");
      std::fflush(stdout);
    }
    goes_on = access(argv[1], F_OK) != 0 ? 1 : 0;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    usleep(1000);
  }
}
