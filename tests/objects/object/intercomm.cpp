// Intercommunicators: made from communicators and from groups, duplicated, split, merged.
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

struct Side {
  MPI_Comm comm;  // of the even or the odd processes
  bool even;
  int rank;
  int size;
  int remote_size;
};

Side make_side() {
  Side side;
  side.even = test::rank() % 2 == 0;
  MPI_Comm_split(MPI_COMM_WORLD, side.even, 0, &side.comm);
  MPI_Comm_rank(side.comm, &side.rank);
  MPI_Comm_size(side.comm, &side.size);
  side.remote_size = test::size() - side.size;
  return side;
}

// Everyone sends to its counterpart and learns that process's world rank; `expected` computes it.
template <class Expected>
void talk(MPI_Comm inter, Expected expected) {
  int rank, size, remote;
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_size(inter, &size);
  MPI_Comm_remote_size(inter, &remote);
  const int me = test::rank();
  std::vector<int> got(static_cast<std::size_t>(remote), -1);
  std::vector<MPI_Request> requests;
  for (int r = 0; r < remote; ++r) {
    MPI_Irecv(&got[static_cast<std::size_t>(r)], 1, MPI_INT, r, 3, inter, &requests.emplace_back());
    MPI_Isend(&me, 1, MPI_INT, r, 3, inter, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (int r = 0; r < remote; ++r) equal(got[static_cast<std::size_t>(r)], expected(r), "process of the remote group");
}

void check_shape(MPI_Comm inter, const Side& side) {
  int flag, size, remote, rank;
  MPI_Comm_test_inter(inter, &flag);
  MPI_Comm_size(inter, &size);
  MPI_Comm_remote_size(inter, &remote);
  MPI_Comm_rank(inter, &rank);
  check(flag, "it is an intercommunicator");
  equal(size, side.size, "local size");
  equal(remote, side.remote_size, "remote size");
  equal(rank, side.rank, "rank");
  talk(inter, [&](int r) { return 2 * r + (side.even ? 1 : 0); });
}

void merge(MPI_Comm inter, const Side& side, bool even_high) {
  MPI_Comm merged;
  MPI_Intercomm_merge(inter, side.even == even_high, &merged);
  int rank, size;
  MPI_Comm_rank(merged, &rank);
  MPI_Comm_size(merged, &size);
  equal(size, test::size(), "size of the merged");
  const bool first = side.even != even_high;
  equal(rank, first ? side.rank : side.remote_size + side.rank, "rank in the merged");
  int sum = 0;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
  equal(sum, size, "allreduce on the merged");
  MPI_Comm_free(&merged);
}

void children(MPI_Comm inter, const Side& side) {
  MPI_Comm dup, idup, half, first;
  MPI_Request request;
  MPI_Comm_dup(inter, &dup);
  check_shape(dup, side);
  MPI_Comm_idup(dup, &idup, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_shape(idup, side);
  int result;
  MPI_Comm_compare(inter, idup, &result);
  equal(result, MPI_CONGRUENT, "compare");

  // The same colors on both sides, if there are processes enough, the other order on the odd one.
  MPI_Comm_split(inter, side.rank % 2, side.even ? 0 : -side.rank, &half);
  const int same_color = (side.remote_size + 1 - side.rank % 2) / 2;  // of the remote side
  check((half == MPI_COMM_NULL) == (same_color == 0), "a color that the other side lacks gives nothing");
  if (half != MPI_COMM_NULL) {
    talk(half, [&](int r) {
      const int there = side.even ? same_color - 1 - r : r;  // among those of the color
      return 2 * (2 * there + side.rank % 2) + (side.even ? 1 : 0);
    });
    MPI_Comm_free(&half);
  }

  // The first process of each side.
  MPI_Group group, zero;
  MPI_Comm_group(inter, &group);
  const int ranks[] = {0};
  MPI_Group_incl(group, 1, ranks, &zero);
  MPI_Comm_create(inter, zero, &first);
  check((first != MPI_COMM_NULL) == (side.rank == 0), "only members");
  if (first != MPI_COMM_NULL) {
    talk(first, [&](int) { return side.even ? 1 : 0; });
    MPI_Comm_free(&first);
  }
  MPI_Group_free(&zero);
  MPI_Group_free(&group);
  MPI_Comm_free(&idup);
  MPI_Comm_free(&dup);
}

MPI_Comm from_groups(const Side& side) {
  MPI_Group world, groups[2];
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int odd = 0; odd < 2; ++odd) {
    int range[1][3] = {{odd, test::size() - 1, 2}};
    MPI_Group_range_incl(world, 1, range, &groups[odd]);
  }
  MPI_Comm inter;
  MPI_Intercomm_create_from_groups(groups[side.even ? 0 : 1], side.size - 1, groups[side.even ? 1 : 0],
                                   side.remote_size - 1, "test.object.intercomm", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                   &inter);
  for (MPI_Group* group : {&world, &groups[0], &groups[1]}) MPI_Group_free(group);
  return inter;
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  Side side = make_side();
  if (test::size() > 1) {
    MPI_Comm inter;
    MPI_Intercomm_create(side.comm, 0, MPI_COMM_WORLD, side.even ? 1 : 0, 12, &inter);
    check_shape(inter, side);
    children(inter, side);
    merge(inter, side, true);
    merge(inter, side, false);
    MPI_Comm_free(&inter);
    inter = from_groups(side);
    check_shape(inter, side);
    merge(inter, side, true);
    MPI_Comm_free(&inter);
  }
  MPI_Comm_free(&side.comm);
}
