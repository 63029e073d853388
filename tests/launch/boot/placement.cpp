// Says which ranks of MPI_COMM_WORLD share a node with this one, and exchanges messages with all: "rank 0 of 3: 0 1".
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

[[noreturn]] void wrong(const char* what) {
  std::fprintf(stderr, "wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::abort();
}

}  // namespace

int main() {
  MPI_Init(nullptr, nullptr);
  int rank, size, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int local = 0;
  MPI_Comm_size(node, &local);
  std::vector<int> ranks(static_cast<std::size_t>(local)), all(static_cast<std::size_t>(size));
  MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, node);
  MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i)
    if (all[static_cast<std::size_t>(i)] != i) wrong("allgather");
  for (int step = 0; step < size; ++step) {
    const int to = (rank + step) % size, from = (rank - step + size) % size, sent = 1000 * rank + to;
    MPI_Status status;
    MPI_Sendrecv(&sent, 1, MPI_INT, to, step, &value, 1, MPI_INT, from, step, MPI_COMM_WORLD, &status);
    if (value != 1000 * from + rank || status.MPI_SOURCE != from) wrong("sendrecv");
  }
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != size * (size - 1) / 2) wrong("allreduce");
  std::string text = "rank " + std::to_string(rank) + " of " + std::to_string(size) + ":";
  for (const int one : ranks) text += " " + std::to_string(one);
  std::puts(text.c_str());
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}
