// Processes that do not agree on the length of a collective: an erroneous program, which ends with an error instead of
// waiting for ever or going on with wrong numbers.
//
//   disagreement OPERATION COUNT OTHER [LATE]   rank 1 has OTHER ints where all have COUNT; it comes late, or the others
//   disagreement returned                       both lengths go through shared memory, the error is returned
//   disagreement nodes                          the same within one of two nodes, ranks 0 and 1, whatever the lengths
#include <unistd.h>

#include <string>

#include "harness.hpp"

using namespace test;

namespace {

int call(const std::string& operation, int count, MPI_Comm comm) {
  std::vector<int> in(static_cast<std::size_t>(count) * static_cast<std::size_t>(world_size), 1), out(in);
  if (operation == "bcast") return MPI_Bcast(in.data(), count, MPI_INT, 0, comm);
  if (operation == "reduce") return MPI_Reduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, 0, comm);
  if (operation == "allreduce") return MPI_Allreduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, comm);
  if (operation == "reduce_scatter") {
    const std::vector<int> counts(static_cast<std::size_t>(world_size), count);
    return MPI_Reduce_scatter(in.data(), out.data(), counts.data(), MPI_INT, MPI_SUM, comm);
  }
  if (operation == "allgather") return MPI_Allgather(in.data(), count, MPI_INT, out.data(), count, MPI_INT, comm);
  if (operation == "alltoall") return MPI_Alltoall(in.data(), count, MPI_INT, out.data(), count, MPI_INT, comm);
  if (operation == "scan") return MPI_Scan(in.data(), out.data(), count, MPI_INT, MPI_SUM, comm);
  if (operation == "exscan") return MPI_Exscan(in.data(), out.data(), count, MPI_INT, MPI_SUM, comm);
  if (operation == "gather") return MPI_Gather(in.data(), count, MPI_INT, out.data(), count, MPI_INT, 0, comm);
  if (operation == "scatter") return MPI_Scatter(in.data(), count, MPI_INT, out.data(), count, MPI_INT, 0, comm);
  return MPI_Barrier(comm);
}

// The rank that compares lengths gets the error: the root of a gather, and a rank with another length than the root of a scatter.
bool learns(const std::string& operation) {
  if (operation == "gather") return world_rank == 0;
  return operation != "scatter" || world_rank == 1;
}

void returned() {
  for (const char* operation : {"allreduce", "reduce_scatter", "allgather", "alltoall", "gather", "scatter"}) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int error_class;
    MPI_Error_class(call(operation, world_rank == 1 ? 3 : 2, comm), &error_class);
    expect(error_class == (learns(operation) ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
           std::string(operation) + " with different counts");
    // All have noticed, or are in step still, so all can go on.
    for (int i = 0; i < 20; ++i) {
      int x = i, sum = 0;
      MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
      expect(sum == i * world_size, "the communicator works");
      MPI_Bcast(&x, 1, MPI_INT, 1, comm);
      MPI_Barrier(comm);
    }
    MPI_Comm_free(&comm);
  }
}

// Ranks 0 and 1 get an error for a disagreement, the leader of the node at least. No rank waits for ever, and all can go on.
void on_a_node(const std::string& operation, int count, int odd_rank, const std::string& odd_operation, int odd_count) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Barrier(comm);
  const bool odd = world_rank == odd_rank;
  const int error = call(odd ? odd_operation : operation, odd ? odd_count : count, comm);
  const bool learns = operation == "bcast" ? odd : operation == "reduce" ? world_rank == 0 : world_rank < 2;
  const std::string what = operation + " of " + std::to_string(count) + ", " + odd_operation + " of " +
                           std::to_string(odd_count) + " on rank " + std::to_string(odd_rank);
  expect(!learns || error != MPI_SUCCESS, what + ": an error");
  for (int i = 0; i < 20; ++i) {
    int x = i, sum = 0;
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == i * world_size, what + ": the communicator works");
    x = world_rank == 1 ? i : -1;
    MPI_Bcast(&x, 1, MPI_INT, 1, comm);
    expect(x == i, what + ": a broadcast");
    MPI_Barrier(comm);
  }
  MPI_Comm_free(&comm);
}

void on_nodes() {
  for (const std::string operation : {"reduce", "allreduce", "allgather"})
    for (const int odd : {0, 1})
      for (const auto& [count, other] : {std::pair{1, 2}, {1, 0}, {1, 100000}, {100000, 1}, {100000, 99999}})
        if (odd == 1 || other != 0)  // a leader without data sends nothing, and the other node waits for it
          on_a_node(operation, count, odd, operation, other);
  for (const auto& [count, other] : {std::pair{2, 1}, {100000, 1}, {100000, 99999}})
    on_a_node("bcast", count, 1, "bcast", other);
  on_a_node("allreduce", 1, 1, "barrier", 0);
  on_a_node("barrier", 0, 1, "allreduce", 1);
  on_a_node("allreduce", 100000, 1, "barrier", 0);
  on_a_node("barrier", 0, 1, "reduce", 100000);
  on_a_node("allgather", 1, 1, "allreduce", 1);
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  const std::string operation = argv[1];
  if (operation == "returned") {
    returned();
    return end();
  }
  if (operation == "nodes") {
    on_nodes();
    return end();
  }
  // An agreed one first, so that none is in the making of what they share.
  call(operation, 1, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const bool odd = world_rank == 1;
  const bool odd_is_late = argc > 4;
  if (odd == odd_is_late) usleep(200000);
  call(operation, std::atoi(argv[odd ? 3 : 2]), MPI_COMM_WORLD);
  call("barrier", 0, MPI_COMM_WORLD);
  return end();
}
