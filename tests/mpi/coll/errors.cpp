// Bad arguments of collectives that only the collective itself can see: the error class is right, and the communicator
// still works afterwards.
#include "harness.hpp"

using namespace test;

namespace {

void expect_class(int code, int wanted, const char* what) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  expect(error_class == wanted,
         std::string(what) + ": class " + std::to_string(error_class) + ", not " + std::to_string(wanted));
}

void expect_working(MPI_Comm comm) {
  int x = 1, y = 0;
  MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm);
  expect(y == world_size, "the communicator works");
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::vector<int> in(static_cast<std::size_t>(world_size) * 4, 1), out(in.size());
  std::vector<double> real(8, 1.0), real_out(8);
  MPI_Request request = MPI_REQUEST_NULL;

  // An operation that is not defined for the datatype, in every mode.
  expect_class(MPI_Allreduce(real.data(), real_out.data(), 8, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP, "allreduce");
  expect_class(MPI_Reduce(real.data(), real_out.data(), 8, MPI_DOUBLE, MPI_BXOR, 0, comm), MPI_ERR_OP, "reduce");
  expect_class(MPI_Scan(real.data(), real_out.data(), 8, MPI_DOUBLE, MPI_MINLOC, comm), MPI_ERR_OP, "scan");
  expect_class(MPI_Iallreduce(real.data(), real_out.data(), 8, MPI_DOUBLE, MPI_BAND, comm, &request), MPI_ERR_OP,
               "iallreduce");
  expect_class(MPI_Allreduce_init(real.data(), real_out.data(), 8, MPI_DOUBLE, MPI_BAND, comm, MPI_INFO_NULL, &request),
               MPI_ERR_OP, "allreduce_init");
  expect_working(comm);

  // One buffer for operand and result.
  const std::vector<int> ones(static_cast<std::size_t>(world_size), 1);
  expect_class(MPI_Reduce_scatter(in.data(), in.data(), ones.data(), MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER,
               "aliased reduce_scatter");
  expect_class(MPI_Ireduce_scatter(in.data(), in.data(), ones.data(), MPI_INT, MPI_SUM, comm, &request), MPI_ERR_BUFFER,
               "aliased ireduce_scatter");
  expect_class(
      MPI_Reduce_scatter_init(in.data(), in.data(), ones.data(), MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request),
      MPI_ERR_BUFFER, "aliased reduce_scatter_init");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  expect_class(MPI_Reduce_local(in.data(), in.data(), 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "aliased reduce_local");
  expect_class(MPI_Reduce_local(in.data(), in.data(), 0, MPI_INT, MPI_SUM), MPI_SUCCESS, "reduce_local of nothing");
  expect_working(comm);

  // More sent to oneself than there is room for.
  expect_class(MPI_Allgather(in.data(), 2, MPI_INT, out.data(), 1, MPI_INT, comm), MPI_ERR_TRUNCATE, "allgather");
  expect_class(MPI_Alltoall(in.data(), 2, MPI_INT, out.data(), 1, MPI_INT, comm), MPI_ERR_TRUNCATE, "alltoall");
  expect_working(comm);

  // A broadcast that is longer than a receiver's buffer. Both lengths go the same way, so that it is not a deadlock.
  for (int n : {8, 100, 1500}) {
    std::vector<int> buffer(static_cast<std::size_t>(2 * n), world_rank);
    const int mine = world_rank == 0 ? 2 * n : n;
    expect_class(MPI_Bcast(buffer.data(), mine, MPI_INT, 0, comm), world_rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE,
                 "bcast");
    expect_working(comm);
  }

  // More than a receiver has room for, in messages.
  if (world_size > 1) {
    const std::vector<int> counts(static_cast<std::size_t>(world_size), 1), displs(counts.size(), 0);
    const int wanted = world_rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS, sent = world_rank == 0 ? 1 : 3;
    expect_class(MPI_Gatherv(in.data(), sent, MPI_INT, out.data(), counts.data(), displs.data(), MPI_INT, 0, comm),
                 wanted, "gatherv");
    expect_class(
        MPI_Igatherv(in.data(), sent, MPI_INT, out.data(), counts.data(), displs.data(), MPI_INT, 0, comm, &request),
        MPI_SUCCESS, "igatherv");
    expect_class(MPI_Wait(&request, MPI_STATUS_IGNORE), wanted, "the wait for igatherv");
    expect_working(comm);
  }

  // No topology.
  expect_class(MPI_Neighbor_allgather(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, comm), MPI_ERR_TOPOLOGY,
               "neighbor_allgather");
  expect_class(MPI_Ineighbor_alltoall(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, comm, &request), MPI_ERR_TOPOLOGY,
               "ineighbor_alltoall");
  MPI_Comm ring;
  const int dims[] = {world_size}, periods[] = {1};
  MPI_Cart_create(comm, 1, dims, periods, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  const int counts[] = {1, -1}, displs[] = {0, 1};
  expect_class(MPI_Neighbor_allgatherv(in.data(), 1, MPI_INT, out.data(), counts, displs, MPI_INT, ring), MPI_ERR_COUNT,
               "neighbor_allgatherv");
  MPI_Comm_free(&ring);

  // Counts that do not fit an int, of nothing.
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  const MPI_Count huge = MPI_Count{1} << 40;
  expect_class(MPI_Bcast_c(in.data(), huge, nothing, 0, comm), MPI_SUCCESS, "bcast of a large count");
  expect_class(MPI_Allgather_c(in.data(), huge, nothing, out.data(), huge, nothing, comm), MPI_SUCCESS,
               "allgather of a large count");
  MPI_Type_free(&nothing);
  expect_working(comm);
  MPI_Comm_free(&comm);
  return end();
}
