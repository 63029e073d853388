// Threads that make communicators at the same time: each from a parent of its own by every means, and all from the
// same parent by MPI_Comm_create_group with a tag each, by string tags, and by idup before they start.
#include <string>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::equal;

constexpr int threads = 4;
constexpr int rounds = 25;

int sum_of_ranks(MPI_Comm comm) {
  int rank, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

void use(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  equal(sum_of_ranks(comm), size * (size - 1) / 2, "allreduce on a new communicator");
}

void work(int me, MPI_Comm own, MPI_Comm shared, MPI_Group all) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm dup, half, together, tagged;
    MPI_Comm_dup(own, &dup);
    MPI_Comm_split(dup, test::rank() % 2, 0, &half);
    MPI_Comm_create_group(shared, all, 100 + me, &together);
    const std::string tag = "thread " + std::to_string(me);
    MPI_Comm_create_from_group(all, tag.c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &tagged);
    for (MPI_Comm* comm : {&dup, &half, &together, &tagged}) {
      use(*comm);
      MPI_Comm_free(comm);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm own[threads];
  MPI_Request requests[threads];
  for (int i = 0; i < threads; ++i) MPI_Comm_idup(MPI_COMM_WORLD, &own[i], &requests[i]);
  MPI_Waitall(threads, requests, MPI_STATUSES_IGNORE);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(work, i, own[i], MPI_COMM_WORLD, all);
  for (std::thread& thread : running) thread.join();
  for (MPI_Comm& comm : own) MPI_Comm_free(&comm);
  MPI_Group_free(&all);
}
