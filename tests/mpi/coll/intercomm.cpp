// Collectives of intercommunicators: groups of several sizes, every root, all modes.
#include <numeric>

#include "harness.hpp"

using namespace test;

namespace {

struct Sides {
  MPI_Comm comm;
  bool low;                     // this process's group has the lower world ranks
  int rank, size, remote_size;  // in the local group; of both groups
  int base, remote_base;        // world rank of rank 0

  int root_argument(int world_root) const {
    if ((world_root >= base) && world_root < base + size) {
      return world_root == world_rank ? MPI_ROOT : MPI_PROC_NULL;
    }
    return world_root - remote_base;
  }
  bool is_other(int world_root) const { return world_root >= remote_base && world_root < remote_base + remote_size; }
};

Sides make_sides(int low_size) {
  Sides s{};
  s.low = world_rank < low_size;
  MPI_Comm local;
  MPI_Comm_split(MPI_COMM_WORLD, s.low, world_rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, s.low ? low_size : 0, 3, &s.comm);
  MPI_Comm_free(&local);
  MPI_Comm_rank(s.comm, &s.rank);
  MPI_Comm_size(s.comm, &s.size);
  MPI_Comm_remote_size(s.comm, &s.remote_size);
  s.base = s.low ? 0 : low_size;
  s.remote_base = s.low ? low_size : 0;
  return s;
}

using Ints = std::vector<int>;
const auto at = [](auto i) { return static_cast<std::size_t>(i); };

void test_rooted(const Sides& s, Mode mode, int n, int root) {
  const int argument = s.root_argument(root);
  const bool is_root = argument == MPI_ROOT;
  const bool other = s.is_other(root);
  Ints one(at(n)), all(at(n * s.remote_size));
  const auto nothing = [] {};

  exercise(
      mode, bcast,
      [&] {
        for (int i = 0; i < n; ++i) one[at(i)] = is_root ? value(root, 0, i) : -1;
      },
      [&] {
        for (int i = 0; i < n; ++i) expect(one[at(i)] == (is_root || other ? value(root, 0, i) : -1), "bcast");
      },
      one.data(), n, MPI_INT, argument, s.comm);

  exercise(
      mode, gather,
      [&] {
        for (int i = 0; i < n; ++i) one[at(i)] = value(world_rank, 0, i);
      },
      [&] {
        for (int i = 0; is_root && i < n * s.remote_size; ++i) {
          expect(all[at(i)] == value(s.remote_base + i / n, 0, i % n), "gather");
        }
      },
      one.data(), n, MPI_INT, all.data(), n, MPI_INT, argument, s.comm);

  exercise(
      mode, scatter,
      [&] {
        std::fill(one.begin(), one.end(), -1);
        for (int i = 0; is_root && i < n * s.remote_size; ++i) {
          all[at(i)] = value(root, s.remote_base + i / n, i % n);
        }
      },
      [&] {
        for (int i = 0; other && i < n; ++i) expect(one[at(i)] == value(root, world_rank, i), "scatter");
      },
      all.data(), n, MPI_INT, one.data(), n, MPI_INT, argument, s.comm);

  Ints counts(at(s.remote_size)), displs(at(s.remote_size));
  for (int r = 0; r < s.remote_size; ++r) {
    counts[at(r)] = r % 2 ? n / 2 : n;
    displs[at(r)] = r * n;
  }
  const int my_n = s.rank % 2 ? n / 2 : n;
  exercise(
      mode, gatherv,
      [&] {
        for (int i = 0; i < n; ++i) one[at(i)] = value(world_rank, 1, i);
      },
      [&] {
        for (int r = 0; is_root && r < s.remote_size; ++r) {
          for (int i = 0; i < counts[at(r)]; ++i) {
            expect(all[at(displs[at(r)] + i)] == value(s.remote_base + r, 1, i), "gatherv");
          }
        }
      },
      one.data(), my_n, MPI_INT, all.data(), counts.data(), displs.data(), MPI_INT, argument, s.comm);

  exercise(
      mode, scatterv,
      [&] {
        for (int i = 0; is_root && i < n * s.remote_size; ++i) {
          all[at(i)] = value(root, s.remote_base + i / n, i % n);
        }
      },
      [&] {
        for (int i = 0; other && i < my_n; ++i) expect(one[at(i)] == value(root, world_rank, i), "scatterv");
      },
      all.data(), counts.data(), displs.data(), MPI_INT, one.data(), my_n, MPI_INT, argument, s.comm);

  Ints sum(at(n));
  exercise(
      mode, reduce, nothing,
      [&] {
        for (int i = 0; is_root && i < n; ++i) {
          int expected = 0;
          for (int r = 0; r < s.remote_size; ++r) expected += (s.remote_base + r) * 100 + i;
          expect(sum[at(i)] == expected, "reduce");
        }
      },
      [&] {
        for (int i = 0; i < n; ++i) one[at(i)] = world_rank * 100 + i;
        return one.data();
      }(),
      sum.data(), n, MPI_INT, MPI_SUM, argument, s.comm);
}

void test_symmetric(const Sides& s, Mode mode, int n) {
  exercise(
      mode, barrier, [] {}, [] {}, s.comm);

  Ints one(at(n)), all(at(n * s.remote_size)), out(at(n * s.remote_size));
  for (int i = 0; i < n; ++i) one[at(i)] = value(world_rank, 0, i);
  const auto clear = [&] { std::fill(all.begin(), all.end(), -1); };
  const auto check_all = [&](bool to_me, const char* what) {
    for (int i = 0; i < n * s.remote_size; ++i) {
      expect(all[at(i)] == value(s.remote_base + i / n, to_me ? world_rank : 0, i % n), what);
    }
  };
  exercise(
      mode, allgather, clear, [&] { check_all(false, "allgather"); }, one.data(), n, MPI_INT, all.data(), n, MPI_INT,
      s.comm);
  Ints counts(at(s.remote_size), n), displs(at(s.remote_size));
  for (int r = 0; r < s.remote_size; ++r) displs[at(r)] = r * n;
  exercise(
      mode, allgatherv, clear, [&] { check_all(false, "allgatherv"); }, one.data(), n, MPI_INT, all.data(),
      counts.data(), displs.data(), MPI_INT, s.comm);
  for (int i = 0; i < n * s.remote_size; ++i) out[at(i)] = value(world_rank, s.remote_base + i / n, i % n);
  exercise(
      mode, alltoall, clear, [&] { check_all(true, "alltoall"); }, out.data(), n, MPI_INT, all.data(), n, MPI_INT,
      s.comm);
  exercise(
      mode, alltoallv, clear, [&] { check_all(true, "alltoallv"); }, out.data(), counts.data(), displs.data(), MPI_INT,
      all.data(), counts.data(), displs.data(), MPI_INT, s.comm);

  Ints sum(at(n));
  exercise(
      mode, allreduce, [&] { std::fill(sum.begin(), sum.end(), -1); },
      [&] {
        for (int i = 0; i < n; ++i) {
          unsigned expected = 0;
          for (int r = 0; r < s.remote_size; ++r) expected += static_cast<unsigned>(value(s.remote_base + r, 0, i));
          expect(sum[at(i)] == static_cast<int>(expected), "allreduce");
        }
      },
      one.data(), sum.data(), n, MPI_INT, MPI_SUM, s.comm);

  // As many elements in all for both groups.
  const int each = n * s.remote_size, total = each * s.size;
  Ints mine(at(total)), part(at(each));
  for (int i = 0; i < total; ++i) mine[at(i)] = world_rank * 1000 + i;
  const auto check_part = [&](const char* what) {
    for (int i = 0; i < each; ++i) {
      int expected = 0;
      for (int r = 0; r < s.remote_size; ++r) expected += (s.remote_base + r) * 1000 + s.rank * each + i;
      expect(part[at(i)] == expected, what);
    }
  };
  exercise(
      mode, reduce_scatter_block, [&] { std::fill(part.begin(), part.end(), -1); },
      [&] { check_part("reduce_scatter_block"); }, mine.data(), part.data(), each, MPI_INT, MPI_SUM, s.comm);
  Ints slices(at(s.size), each);
  exercise(
      mode, reduce_scatter, [&] { std::fill(part.begin(), part.end(), -1); }, [&] { check_part("reduce_scatter"); },
      mine.data(), part.data(), slices.data(), MPI_INT, MPI_SUM, s.comm);
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  for (int low = 1; low<world_size; low += world_size> 4 ? 2 : 1) {
    Sides s = make_sides(low);
    for (Mode mode : all_modes) {
      for (int n : {1, 10, 5000}) {
        test_symmetric(s, mode, n);
        for (int root = 0; root < world_size; ++root) test_rooted(s, mode, n, root);
      }
    }
    MPI_Comm_free(&s.comm);
  }
  return end();
}
