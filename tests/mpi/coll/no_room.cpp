// One node of two has no memory left for what a communicator's members there would share: its members use messages among themselves, and
// the other node notices nothing. Run with HEDDLE_NODES=2.
#include "harness.hpp"

using namespace test;

namespace {

// All of the node's shared memory, in windows of this process alone; the larger pieces first.
std::vector<MPI_Win> take_all() {
  std::vector<MPI_Win> out;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (MPI_Aint bytes = MPI_Aint{1} << 34; bytes >= 4096;) {
    void* memory;
    MPI_Win window;
    if (MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &window) == MPI_SUCCESS) {
      out.push_back(window);
    } else {
      bytes /= 2;
    }
  }
  return out;
}

void exercise_all(MPI_Comm comm, int size) {
  for (int i = 0; i < 20; ++i) {
    int x = i + world_rank, sum = 0;
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum == i * size + size * (size - 1) / 2, "allreduce");
    const int root = i % size;
    x = world_rank == root ? i : -1;
    MPI_Bcast(&x, 1, MPI_INT, root, comm);
    expect(x == i, "bcast");
    sum = -1;
    MPI_Reduce(&x, &sum, 1, MPI_INT, MPI_SUM, root, comm);
    expect(sum == (world_rank == root ? i * size : -1), "reduce");
    std::vector<int> all(static_cast<std::size_t>(size));
    MPI_Allgather(&world_rank, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    for (int r = 0; r < size; ++r) expect(all[static_cast<std::size_t>(r)] == r, "allgather");
    MPI_Barrier(comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<MPI_Win> windows;
  if (world_rank == 0) windows = take_all();
  expect(world_rank != 0 || !windows.empty(), "there was memory to take");
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  exercise_all(comm, world_size);
  for (MPI_Win& window : windows) MPI_Win_free(&window);
  exercise_all(comm, world_size);
  MPI_Comm_free(&comm);
  return end();
}
