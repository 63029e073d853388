// Vectors so long that processes with too few cores read them where they lie, through the kernel: every operation that does so, at lengths
// around the borders, where one member's buffer is no run of bytes and where each one's is, in place, for a user's operation that does not
// commute, while one rank after the other is late. With `forbidden` the kernel refuses, to one rank alone with `forbidden-one`. With
// `unreadable` it fails in the middle.
#include <sched.h>
#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "affine.hpp"
#include "mpi/check.hpp"
#include "mpi/kernel_copy.hpp"

namespace {

using test::Affine;
using test::equal;

constexpr int lengths[] = {1, 2047, 2048, 4095, 4096, 4097, 8191, 8192, 8193, 30011, 131072};  // of doubles

int me, all;

double given(int rank, int block, int i) { return 1 + rank + 10.0 * block + i % 997; }

using Vector = std::vector<double>;

void late(int rank) {
  if (me == rank) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Blocks of n doubles, one after the other or, in a layout, with a gap behind each double.
class Blocks {
 public:
  Blocks(int n, int blocks, bool layout)
      : n_(n),
        step_(layout ? 2 : 1),
        memory_(static_cast<std::size_t>(n) * static_cast<std::size_t>(blocks * step_), -1) {
    MPI_Datatype gaps;
    MPI_Type_vector(n, 1, step_, MPI_DOUBLE, &gaps);
    MPI_Type_create_resized(gaps, 0, MPI_Aint{n} * step_ * static_cast<MPI_Aint>(sizeof(double)), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&gaps);
  }
  ~Blocks() { MPI_Type_free(&type); }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  void* data() { return memory_.data(); }
  void fill(int block, int rank, int what) {
    for (int i = 0; i < n_; ++i) at(block, i) = given(rank, what, i);
  }
  void expect(int block, int rank, int what, const char* name) {
    for (int i = 0; i < n_; ++i) {
      equal(static_cast<long long>(at(block, i)), static_cast<long long>(given(rank, what, i)), name);
      if (step_ == 2) equal(static_cast<long long>((&at(block, i))[1]), -1, "behind an element of the layout");
    }
  }

  MPI_Datatype type = MPI_DATATYPE_NULL;

 private:
  double& at(int block, int i) {
    const auto n = static_cast<std::size_t>(n_), k = static_cast<std::size_t>(i), s = static_cast<std::size_t>(step_);
    return memory_[(static_cast<std::size_t>(block) * n + k) * s];
  }
  int n_, step_;
  Vector memory_;
};

// `layout`: of which rank the buffer is one; `all`: of every rank, -1: of none.
void exchanges(int n, int layout, bool of_result) {
  const bool mine = layout == all || layout == me;
  Blocks from(n, all, mine && !of_result), to(n, all, mine && of_result);
  for (int b = 0; b < all; ++b) from.fill(b, me, b);
  MPI_Alltoall(from.data(), 1, from.type, to.data(), 1, to.type, MPI_COMM_WORLD);
  for (int r = 0; r < all; ++r) to.expect(r, r, me, "alltoall");
  MPI_Allgather(from.data(), 1, from.type, to.data(), 1, to.type, MPI_COMM_WORLD);
  for (int r = 0; r < all; ++r) to.expect(r, r, 0, "allgather");
}

void in_place(int n) {
  Blocks buffer(n, all, false);
  buffer.fill(me, me, 3);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer.data(), 1, buffer.type, MPI_COMM_WORLD);
  for (int r = 0; r < all; ++r) buffer.expect(r, r, 3, "allgather in place");
  for (int b = 0; b < all; ++b) buffer.fill(b, me, b);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer.data(), 1, buffer.type, MPI_COMM_WORLD);
  for (int r = 0; r < all; ++r) buffer.expect(r, r, me, "alltoall in place");
}

// A vector of `counts` elements for each; in place as well.
void reduce_scatter(const std::vector<int>& counts) {
  const test::Composing composing;
  int first = 0, total = 0;
  for (int r = 0; r < all; ++r) {
    if (r == me) first = total;
    total += counts[static_cast<std::size_t>(r)];
  }
  const int own = counts[static_cast<std::size_t>(me)];
  std::vector<Affine> mine(static_cast<std::size_t>(total)), result(static_cast<std::size_t>(own));
  for (int i = 0; i < total; ++i) mine[static_cast<std::size_t>(i)] = test::affine(me, i);
  const auto expect = [&](const std::vector<Affine>& got, const char* what) {
    for (int i = 0; i < own; ++i) test::expect_composed(got[static_cast<std::size_t>(i)], all, first + i, what);
  };
  MPI_Reduce_scatter(mine.data(), result.data(), counts.data(), composing.type, composing.op, MPI_COMM_WORLD);
  expect(result, "reduce_scatter");
  MPI_Reduce_scatter(MPI_IN_PLACE, mine.data(), counts.data(), composing.type, composing.op, MPI_COMM_WORLD);
  expect(mine, "reduce_scatter in place");
}

bool has_a_core_for_each() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) >= all;
}

// The block of rank 0 for rank 1 cannot be read: everyone learns that. (Where each rank has a core it is a message, and rank 1 alone does.)
void unreadable() {
  if (has_a_core_for_each()) return;
  constexpr std::size_t block = 256 * 1024;
  const std::size_t bytes = block * static_cast<std::size_t>(all);
  void* const from = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (me == 0) equal(mprotect(static_cast<char*>(from) + block, block, PROT_NONE), 0, "mprotect");
  std::vector<char> to(bytes);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int code =
      MPI_Alltoall(from, static_cast<int>(block), MPI_BYTE, to.data(), static_cast<int>(block), MPI_BYTE, comm);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  test::check(std::strstr(text, "rank 1 of the communicator") != nullptr, text);
  munmap(from, bytes);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const char* const number = getenv("HEDDLE_RANK");
  if (mode == "forbidden" || (mode == "forbidden-one" && number != nullptr && number[0] == '1'))
    test::check(test::forbid_kernel_copy(), "seccomp");
  const test::Session session(&argc, &argv);
  me = test::rank(), all = test::size();
  if (mode == "unreadable") return unreadable(), 0;
  int round = 0;
  for (const int n : lengths) {
    late(round++ % all);
    exchanges(n, -1, false);
    exchanges(n, round % all, false);
    exchanges(n, round % all, true);
    exchanges(n, all, round % 2 == 0);
    in_place(n);
    std::vector<int> counts(static_cast<std::size_t>(all), n);
    late(round % all);
    if (n < 100000) reduce_scatter(counts);
    counts[0] = 0;
    counts[static_cast<std::size_t>(all - 1)] += n / 3;
    if (n < 100000) reduce_scatter(counts);
  }
}
