// Allowed and forbidden arguments where it depends on the process: ranks of both groups of an intercommunicator, roots,
// arguments that only some processes look at, MPI_IN_PLACE, MPI_BOTTOM, buffers that overlap. Any number of ranks.
#include <cstdint>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::equal;
using test::rank;
using test::size;

const auto nowhere = reinterpret_cast<void*>(1 << 20);                  // never touched if it is not read
const auto no_type = reinterpret_cast<MPI_Datatype>(0x7ffdeadbeef8ul);  // no datatype at all

void expect(int code, int wanted, const char* what, std::source_location at = std::source_location::current()) {
  int error_class;
  MPI_Error_class(code, &error_class);
  test::equal(error_class, wanted, what, at);
}

MPI_Comm quiet(MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

void point_to_point(MPI_Comm world) {
  int out = 1, in = 0;
  expect(MPI_Send(&out, 1, MPI_INT, size(), 0, world), MPI_ERR_RANK, "one rank too far");
  expect(MPI_Send(&out, 1, MPI_INT, MPI_ANY_SOURCE, 0, world), MPI_ERR_RANK, "a wildcard to send to");
  expect(MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, world), MPI_SUCCESS, "no destination");
  expect(MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, world, MPI_STATUS_IGNORE), MPI_SUCCESS, "no source");
  expect(MPI_Send(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, world), MPI_SUCCESS, "nothing to send");
  expect(MPI_Send(nullptr, 1, MPI_INT, rank(), 0, world), MPI_ERR_BUFFER, "null");
  expect(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, rank(), 0, world), MPI_ERR_BUFFER, "in place");
  int* tag_ub;
  int flag;
  MPI_Comm_get_attr(world, MPI_TAG_UB, &tag_ub, &flag);
  expect(MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, *tag_ub, world), MPI_SUCCESS, "the last tag");
  if (static_cast<std::uint32_t>(*tag_ub) < INT32_MAX) {
    expect(MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, *tag_ub + 1, world), MPI_ERR_TAG, "one tag too far");
  }
  expect(MPI_Sendrecv(&out, 1, MPI_INT, rank(), MPI_ANY_TAG, &in, 1, MPI_INT, rank(), 0, world, MPI_STATUS_IGNORE),
         MPI_ERR_TAG, "a wildcard to send with");

  // Absolute addresses go with MPI_BOTTOM, which is null.
  MPI_Aint address;
  MPI_Datatype absolute;
  const int one = 1;
  MPI_Get_address(&in, &address);
  MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &absolute);
  expect(MPI_Recv(MPI_BOTTOM, 1, absolute, MPI_PROC_NULL, 0, world, MPI_STATUS_IGNORE), MPI_ERR_TYPE, "uncommitted");
  MPI_Type_commit(&absolute);
  expect(MPI_Sendrecv(&out, 1, MPI_INT, rank(), 5, MPI_BOTTOM, 1, absolute, rank(), 5, world, MPI_STATUS_IGNORE),
         MPI_SUCCESS, "from MPI_BOTTOM");
  equal(in, 1, "what arrived");
  MPI_Type_free(&absolute);
}

// Errors that all processes make alike, so that no process waits.
void collectives(MPI_Comm world) {
  const int n = size();
  std::vector<int> all(static_cast<std::size_t>(n)), counts(all.size(), 1), places(all.size());
  for (int i = 0; i < n; ++i) places[static_cast<std::size_t>(i)] = i;
  int mine = rank(), result = 0;

  expect(MPI_Bcast(&mine, 1, MPI_INT, n, world), MPI_ERR_ROOT, "one root too far");
  expect(MPI_Bcast(&mine, 1, MPI_INT, MPI_ROOT, world), MPI_ERR_ROOT, "MPI_ROOT is for intercommunicators");
  expect(MPI_Allreduce(&mine, &mine, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER, "overlap");
  expect(MPI_Allreduce(&mine, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world), MPI_ERR_BUFFER, "in place on the wrong side");
  expect(MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, MPI_BXOR, world), MPI_ERR_OP, "bits of a double");
  expect(MPI_Allreduce(&mine, &result, 1, MPI_INT, MPI_NO_OP, world), MPI_ERR_OP, "an operation of windows");
  expect(MPI_Allgather(all.data(), 1, MPI_INT, all.data(), 1, MPI_INT, world), MPI_ERR_BUFFER, "overlap");
  counts.back() = -1;
  expect(MPI_Allgatherv(&mine, 1, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, world), MPI_ERR_COUNT,
         "a negative count");
  expect(MPI_Reduce_scatter(all.data(), &result, counts.data(), MPI_INT, MPI_SUM, world), MPI_ERR_COUNT, "the same");
  counts.back() = 1;
  expect(MPI_Alltoallv(all.data(), counts.data(), nullptr, MPI_INT, places.data(), counts.data(), places.data(),
                       MPI_INT, world),
         MPI_ERR_ARG, "no displacements");

  // Arguments that only the root reads may be anything elsewhere.
  const bool root = rank() == n - 1;
  expect(
      MPI_Gather(&mine, 1, MPI_INT, root ? all.data() : nowhere, root ? 1 : -5, root ? MPI_INT : no_type, n - 1, world),
      MPI_SUCCESS, "gather");
  if (root) {
    for (int i = 0; i < n; ++i) equal(all[static_cast<std::size_t>(i)], i, "gathered");
  }
  expect(MPI_Scatterv(root ? all.data() : nowhere, root ? counts.data() : nullptr, root ? places.data() : nullptr,
                      root ? MPI_INT : MPI_DATATYPE_NULL, &result, 1, MPI_INT, n - 1, world),
         MPI_SUCCESS, "scatterv");
  equal(result, rank(), "scattered");
  // In place: the root's own part, and what describes it is not looked at.
  all[0] = rank();
  if (root) all[static_cast<std::size_t>(n - 1)] = rank();
  expect(root ? MPI_Gather(MPI_IN_PLACE, -1, no_type, all.data(), 1, MPI_INT, n - 1, world)
              : MPI_Gather(&mine, 1, MPI_INT, nullptr, 0, MPI_DATATYPE_NULL, n - 1, world),
         MPI_SUCCESS, "gather in place");
  expect(MPI_Allgather(MPI_IN_PLACE, -1, no_type, all.data(), 1, MPI_INT, world), MPI_SUCCESS, "allgather in place");
  expect(root ? MPI_Reduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, n - 1, world)
              : MPI_Reduce(&mine, nullptr, 1, MPI_INT, MPI_SUM, n - 1, world),
         MPI_SUCCESS, "reduce in place");
  if (root) equal(mine, n * (n - 1) / 2, "sum");
}

// The even ranks on one side, the odd ones on the other.
void intercommunicators(MPI_Comm world) {
  if (size() < 3) return;
  MPI_Comm half, inter;
  const int side = rank() % 2;
  MPI_Comm_split(world, side, 0, &half);
  MPI_Intercomm_create(half, 0, world, 1 - side, 7, &inter);
  quiet(inter);
  int remote, local, local_rank;
  MPI_Comm_remote_size(inter, &remote);
  MPI_Comm_size(inter, &local);
  MPI_Comm_rank(inter, &local_rank);

  int value = 0, result = 0;
  expect(MPI_Send(&value, 1, MPI_INT, remote, 0, inter), MPI_ERR_RANK, "one rank too far in the other group");
  expect(MPI_Bcast(&value, 1, MPI_INT, remote, inter), MPI_ERR_ROOT, "one root too far in the other group");
  expect(MPI_Scan(&value, &result, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM, "scan");
  expect(MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER, "in place");

  // Rank 0 of the even side is the root; the others of its side take no part and need no datatype.
  const int root = side == 1 ? 0 : local_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  if (root == MPI_ROOT) value = 77;
  expect(root == MPI_PROC_NULL ? MPI_Bcast(nowhere, -1, MPI_DATATYPE_NULL, root, inter)
                               : MPI_Bcast(&value, 1, MPI_INT, root, inter),
         MPI_SUCCESS, "bcast");
  if (side == 1) equal(value, 77, "broadcast");
  expect(root == MPI_PROC_NULL ? MPI_Reduce(nowhere, nullptr, -1, no_type, MPI_OP_NULL, root, inter)
         : root == MPI_ROOT    ? MPI_Reduce(nullptr, &result, 1, MPI_INT, MPI_SUM, root, inter)
                               : MPI_Reduce(&value, nullptr, 1, MPI_INT, MPI_SUM, root, inter),
         MPI_SUCCESS, "reduce");
  if (root == MPI_ROOT) equal(result, 77 * remote, "reduced");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
  test::Session session(&argc, &argv);
  MPI_Comm world;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  quiet(world);
  point_to_point(world);
  collectives(world);
  intercommunicators(world);
  MPI_Comm_free(&world);
}
