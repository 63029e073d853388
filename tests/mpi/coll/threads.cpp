// Collectives from several threads at once, each on a communicator of its own, blocking and nonblocking, small (shared
// memory) and large, with point-to-point messages of yet other threads beside them.
#include <thread>

#include "harness.hpp"

using namespace test;

namespace {

constexpr int rounds = 150;

void collectives(MPI_Comm comm, int me) {
  Random random(seed + static_cast<unsigned>(me));
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::vector<int> in, out, all;
  for (int round = 0; round < rounds; ++round) {
    const int n = 1 + (random.below(10) == 0 ? random.below(30000) : random.below(100));
    const int root = random.below(1 << 20) % size;
    in.assign(static_cast<std::size_t>(n), rank + round + me);
    out.assign(static_cast<std::size_t>(n), -1);
    const int sum = size * (size - 1) / 2 + size * (round + me);
    const bool nonblocking = random.below(2) == 0;
    MPI_Request request;
    switch (random.below(4)) {
      case 0:
        if (nonblocking) {
          MPI_Iallreduce(in.data(), out.data(), n, MPI_INT, MPI_SUM, comm, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
          MPI_Allreduce(in.data(), out.data(), n, MPI_INT, MPI_SUM, comm);
        }
        for (int x : out) expect(x == sum, "allreduce in a thread");
        break;
      case 1:
        if (nonblocking) {
          MPI_Ibcast(in.data(), n, MPI_INT, root, comm, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
          MPI_Bcast(in.data(), n, MPI_INT, root, comm);
        }
        for (int x : in) expect(x == root + round + me, "bcast in a thread");
        break;
      case 2:
        all.assign(static_cast<std::size_t>(n * size), -1);
        if (nonblocking) {
          MPI_Iallgather(in.data(), n, MPI_INT, all.data(), n, MPI_INT, comm, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
          MPI_Allgather(in.data(), n, MPI_INT, all.data(), n, MPI_INT, comm);
        }
        for (int i = 0; i < n * size; ++i) {
          expect(all[static_cast<std::size_t>(i)] == i / n + round + me, "allgather in a thread");
        }
        break;
      default:
        if (nonblocking) {
          MPI_Ibarrier(comm, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
          MPI_Barrier(comm);
        }
    }
  }
}

void messages(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < rounds * 4; ++i) {
    int x = rank * 1000 + i, y = -1;
    const int from = (rank + size - 1) % size;
    MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, 2, &y, 1, MPI_INT, from, 2, comm, MPI_STATUS_IGNORE);
    expect(y == from * 1000 + i, "a message beside collectives");
  }
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv, MPI_THREAD_MULTIPLE);
  constexpr int threads = 4;
  MPI_Comm comms[threads + 1];
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back(collectives, comms[t], t);
  all.emplace_back(messages, comms[threads]);
  for (std::thread& t : all) t.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  return end();
}
