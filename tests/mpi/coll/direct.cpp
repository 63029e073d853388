// Vectors so long that ranks of one process read them where they lie: every operation that does so, at lengths around the borders,
// with layouts at either side, in place, for a user's operation that does not commute, while one rank after the other is late;
// short ones of other operations in between, which use the same frames.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "affine.hpp"
#include "mpi/check.hpp"

namespace {

using test::Affine;
using test::equal;

constexpr int lengths[] = {1, 1023, 1024, 2047, 2048, 2049, 8191, 8192, 30011, 131072, 400003};  // of doubles

int me, all;

double given(int rank, int block, int i) { return 1 + rank + 10.0 * block + i % 997; }

using Vector = std::vector<double>;

Vector operand(int n, int rank, int blocks = 1) {
  Vector v(static_cast<std::size_t>(n) * static_cast<std::size_t>(blocks));
  for (int b = 0; b < blocks; ++b)
    for (int i = 0; i < n; ++i)
      v[static_cast<std::size_t>(b) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)] = given(rank, b, i);
  return v;
}

// n doubles, every second one of memory.
struct Strided {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Vector memory;

  explicit Strided(int n) : memory(2 * static_cast<std::size_t>(n), -1) {
    MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
  }
  ~Strided() { MPI_Type_free(&type); }
  Strided(const Strided&) = delete;
  Strided& operator=(const Strided&) = delete;
};

void late(int rank) {
  if (me == rank) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void bcast(int n, int root) {
  Vector v = operand(n, me);
  MPI_Bcast(v.data(), n, MPI_DOUBLE, root, MPI_COMM_WORLD);
  if (me == root) v.assign(v.size(), 0);  // it has been read by all
  Strided s(n);
  Vector from = operand(n, root);
  if (me == root) {
    MPI_Bcast(from.data(), n, MPI_DOUBLE, root, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(s.memory.data(), 1, s.type, root, MPI_COMM_WORLD);
  }
  for (int i = 0; i < n && me != root; ++i) {
    const auto k = static_cast<std::size_t>(i);
    equal(static_cast<long long>(v[k]), static_cast<long long>(given(root, 0, i)), "bcast");
    equal(static_cast<long long>(s.memory[2 * k]), static_cast<long long>(given(root, 0, i)), "bcast into a layout");
    equal(static_cast<long long>(s.memory[2 * k + 1]), -1, "between elements of the layout");
  }
}

void expect_sum(const Vector& v, const char* what) {
  for (std::size_t i = 0; i < v.size(); ++i)
    equal(static_cast<long long>(v[i]),
          static_cast<long long>(all * given(0, 0, static_cast<int>(i)) + all * (all - 1) / 2), what);
}

void reductions(int n, int root) {
  const Vector mine = operand(n, me);
  Vector sum(mine.size(), -1);
  MPI_Allreduce(mine.data(), sum.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect_sum(sum, "allreduce");
  Vector own = mine;
  MPI_Allreduce(MPI_IN_PLACE, own.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  expect_sum(own, "allreduce in place");
  sum.assign(sum.size(), -1);
  late(root);
  MPI_Reduce(mine.data(), me == root ? sum.data() : nullptr, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  if (me == root) expect_sum(sum, "reduce");
  own = mine;
  MPI_Reduce(me == root ? MPI_IN_PLACE : own.data(), me == root ? own.data() : nullptr, n, MPI_DOUBLE, MPI_SUM, root,
             MPI_COMM_WORLD);
  if (me == root) expect_sum(own, "reduce in place");
}

void user_operation(int n) {
  const test::Composing composing;
  std::vector<Affine> mine(static_cast<std::size_t>(n)), result(mine.size());
  for (int i = 0; i < n; ++i) mine[static_cast<std::size_t>(i)] = test::affine(me, i);
  MPI_Allreduce(mine.data(), result.data(), n, composing.type, composing.op, MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i)
    test::expect_composed(result[static_cast<std::size_t>(i)], all, i, "an operation that does not commute");
}

void exchanges(int n) {
  const auto blocks = static_cast<std::size_t>(all);
  const auto length = static_cast<std::size_t>(n);
  const auto expect = [&](const Vector& got, int block, const char* what) {
    for (int r = 0; r < all; ++r)
      for (int i = 0; i < n; ++i)
        equal(static_cast<long long>(got[static_cast<std::size_t>(r) * length + static_cast<std::size_t>(i)]),
              static_cast<long long>(given(r, block, i)), what);
  };
  Strided s(n);
  const Vector mine = operand(n, me);
  for (std::size_t i = 0; i < length; ++i) s.memory[2 * i] = mine[i];
  Vector got(blocks * length, -1);
  MPI_Allgather(s.memory.data(), 1, s.type, got.data(), n, MPI_DOUBLE, MPI_COMM_WORLD);
  expect(got, 0, "allgather from a layout");
  got.assign(got.size(), -1);
  std::copy(mine.begin(), mine.end(), got.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(me) * length));
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got.data(), n, MPI_DOUBLE, MPI_COMM_WORLD);
  expect(got, 0, "allgather in place");
  const Vector out = operand(n, me, all);
  got.assign(got.size(), -1);
  MPI_Alltoall(out.data(), n, MPI_DOUBLE, got.data(), n, MPI_DOUBLE, MPI_COMM_WORLD);
  expect(got, me, "alltoall");
  Vector own = out;
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, own.data(), n, MPI_DOUBLE, MPI_COMM_WORLD);
  expect(own, me, "alltoall in place");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  me = test::rank(), all = test::size();
  int round = 0;
  for (const int n : lengths) {
    const int root = round++ % all;
    late((root + 1) % all);
    bcast(n, root);
    MPI_Barrier(MPI_COMM_WORLD);
    reductions(n, root);
    if (n < 200000) user_operation(n);
    late(root);
    if (n < 200000) exchanges(n);
    for (int i = 0; i < 20; ++i) bcast(3, i % all);
  }
}
