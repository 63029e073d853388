// Progress threads beside threads of the program that communicate all the time, wait, test, and leave requests pending.
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::equal;
using test::rank;
using test::size;

constexpr int threads = 4;
constexpr int rounds = 60;
constexpr int lengths[] = {1, 20, 3000, 40'000, 300'000};  // of ints

int right() { return (rank() + 1) % size(); }
int left() { return (rank() + size() - 1) % size(); }

void exchange(int thread, MPI_Comm comm) {
  for (int round = 0; round < rounds; ++round) {
    const int n = lengths[(round + thread) % 5];
    std::vector<int> out(static_cast<std::size_t>(n), rank() * 1000 + thread * 100 + round);
    std::vector<int> in(out.size(), -1);
    MPI_Request requests[2];
    MPI_Irecv(in.data(), n, MPI_INT, left(), thread, comm, &requests[0]);
    MPI_Isend(out.data(), n, MPI_INT, right(), thread, comm, &requests[1]);
    if (round % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(400));
    if (round % 3 == 1) {
      for (int all = 0; all == 0;) MPI_Testall(2, requests, &all, MPI_STATUSES_IGNORE);
    } else {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    equal(in.front(), left() * 1000 + thread * 100 + round, "the first number");
    equal(in.back(), left() * 1000 + thread * 100 + round, "the last number");
  }
}

void reduce(MPI_Comm comm) {
  for (int round = 0; round < rounds; ++round) {
    int mine = rank() + round, sum = -1;
    MPI_Request request;
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    equal(sum, size() * (size() - 1) / 2 + size() * round, "a sum");
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm comm, sums;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &sums);
  std::vector<std::thread> team;
  for (int i = 0; i < threads; ++i) team.emplace_back(exchange, i, comm);
  team.emplace_back(reduce, sums);
  for (std::thread& thread : team) thread.join();
  MPI_Comm_free(&sums);
  MPI_Comm_free(&comm);
  MPI_Finalize();
}
