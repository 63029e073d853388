// Put and get with every flavor of window, between fences and under locks: rings, gaps, derived datatypes on both sides,
// long messages.
#include <cstdint>
#include <numeric>

#include "harness.hpp"

using namespace test;

namespace {

void ring(Flavor flavor) {
  const int right = (rank() + 1) % size();
  const int left = (rank() + size() - 1) % size();
  Window<int> window(flavor, 100, -1);
  std::vector<int> out(100);
  std::iota(out.begin(), out.end(), 1000 * rank());
  MPI_Win_fence(0, window.win);
  MPI_Put(out.data(), 100, MPI_INT, right, window.disp(right), 100, MPI_INT, window.win);
  MPI_Win_fence(0, window.win);
  for (int i = 0; i < 100; ++i) equal(window.data[i], 1000 * left + i, name(flavor));
  std::vector<int> in(50, -1);
  MPI_Get(in.data(), 50, MPI_INT, right, window.disp(right, 25), 50, MPI_INT, window.win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
  for (int i = 0; i < 50; ++i) equal(in[i], 1000 * rank() + 25 + i, name(flavor));
}

// Every second int here, a column of a matrix there.
void layouts(Flavor flavor) {
  constexpr int n = 40;
  Window<int> window(flavor, n * n, -1);
  MPI_Datatype every_second, column;
  MPI_Type_vector(n, 1, 2, MPI_INT, &every_second);
  MPI_Type_vector(n, 1, n, MPI_INT, &column);
  MPI_Type_commit(&every_second);
  MPI_Type_commit(&column);
  std::vector<int> out(2 * n);
  for (int i = 0; i < n; ++i) out[2 * i] = 100 * rank() + i;
  for (int target = 0; target < size(); ++target) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
    MPI_Put(out.data(), 1, every_second, target, window.disp(target, rank()), 1, column, window.win);
    MPI_Win_unlock(target, window.win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int row = 0; row < n; ++row) {
    for (int col = 0; col < n; ++col)
      equal(window.data[row * n + col], col < size() ? 100 * col + row : -1, name(flavor));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<int> in(2 * n, -1);
  const int from = size() - 1;
  MPI_Win_lock_all(0, window.win);
  MPI_Get(in.data(), 1, every_second, from, window.disp(from, rank()), 1, column, window.win);
  MPI_Win_unlock_all(window.win);
  for (int i = 0; i < 2 * n; ++i) equal(in[i], i % 2 == 0 ? 100 * rank() + i / 2 : -1, name(flavor));
  MPI_Type_free(&every_second);
  MPI_Type_free(&column);
}

// More runs than one system call takes, of different lengths at the two sides, and a long one.
void many_runs(Flavor flavor) {
  constexpr int runs = 3000;
  constexpr std::size_t bytes = std::size_t{8} * runs;
  Window<std::uint8_t> window(flavor, 2 * bytes, 0xff);
  MPI_Datatype here, there;
  MPI_Type_vector(runs, 8, 13, MPI_BYTE, &here);
  MPI_Type_vector(runs * 2, 4, 7, MPI_BYTE, &there);
  MPI_Type_commit(&here);
  MPI_Type_commit(&there);
  const int target = (rank() + 1) % size();
  const int source = (rank() + size() - 1) % size();
  std::vector<std::uint8_t> out(13 * runs);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::uint8_t>(i * 7 + static_cast<unsigned>(rank()));
  MPI_Win_fence(0, window.win);
  MPI_Put(out.data(), 1, here, target, window.disp(target), 1, there, window.win);
  MPI_Win_fence(0, window.win);
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t from = i / 8 * 13 + i % 8;
    const auto wanted = static_cast<std::uint8_t>(from * 7 + static_cast<unsigned>(source));
    equal(window.data[i / 4 * 7 + i % 4], wanted, name(flavor));
  }
  for (std::size_t i = 0; i + 1 < bytes / 4; ++i) equal(window.data[i * 7 + 5], 0xff, "between the runs");
  MPI_Type_free(&here);
  MPI_Type_free(&there);
}

void long_message(Flavor flavor) {
  constexpr std::size_t n = std::size_t{1} << 20;
  Window<std::uint64_t> window(flavor, n);
  const int target = (rank() + 1) % size();
  std::vector<std::uint64_t> out(n), in(n);
  std::iota(out.begin(), out.end(), std::uint64_t{1} << (rank() % 60));
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.win);
  MPI_Put_c(out.data(), static_cast<MPI_Count>(n), MPI_UINT64_T, target, window.disp(target), static_cast<MPI_Count>(n),
            MPI_UINT64_T, window.win);
  MPI_Win_flush(target, window.win);
  MPI_Get(in.data(), static_cast<int>(n), MPI_UINT64_T, target, window.disp(target), static_cast<int>(n), MPI_UINT64_T,
          window.win);
  MPI_Win_unlock(target, window.win);
  check(in == out, name(flavor));
  MPI_Barrier(MPI_COMM_WORLD);
}

void requests(Flavor flavor) {
  Window<double> window(flavor, 8, 0.5);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window.win);
  const int target = (rank() + 1) % size();
  const double out = 1.0 + rank();
  double in[2] = {-1, -1};
  MPI_Request request[2];
  MPI_Rput(&out, 1, MPI_DOUBLE, target, window.disp(target, 3), 1, MPI_DOUBLE, window.win, &request[0]);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  check(request[0] == MPI_REQUEST_NULL, "a request that was waited for");
  MPI_Win_flush_all(window.win);
  MPI_Rget(&in[0], 1, MPI_DOUBLE, target, window.disp(target, 3), 1, MPI_DOUBLE, window.win, &request[0]);
  MPI_Rget(&in[1], 1, MPI_DOUBLE, target, window.disp(target, 4), 1, MPI_DOUBLE, window.win, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  MPI_Win_unlock_all(window.win);
  check(in[0] == out && in[1] == 0.5, name(flavor));
  MPI_Barrier(MPI_COMM_WORLD);
}

// Nothing to move, no target to move it to.
void nothing(Flavor flavor) {
  Window<int> window(flavor, 1, 7);
  MPI_Win_fence(0, window.win);
  MPI_Put(nullptr, 0, MPI_INT, 0, window.disp(0), 0, MPI_INT, window.win);
  int in = 3;
  MPI_Get(&in, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.win);
  MPI_Put(&in, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.win);
  MPI_Win_fence(0, window.win);
  equal(in, 3, "a get from no target");
  equal(window.data[0], 7, "a put of nothing");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  for (Flavor flavor : flavors()) {
    ring(flavor);
    layouts(flavor);
    many_runs(flavor);
    long_message(flavor);
    requests(flavor);
    nothing(flavor);
  }
}
