// A window that is still there when MPI ends is none from then on. The errors after the end go to the initial error
// handler, which has to be MPI_ERRORS_RETURN.
#include "harness.hpp"

using namespace test;

namespace {

// Leak checkers know this name.
MPI_Win leave_one_behind() {
  int* base;
  MPI_Win win;
  MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &win);
  MPI_Win_lock_all(0, win);
  return win;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Win win = leave_one_behind();
  MPI_Finalize();
  const int value = 1;
  const auto is_over = [](int code) { return class_of(code) == MPI_ERR_OTHER; };
  const bool over = is_over(MPI_Win_fence(0, win)) && is_over(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win)) &&
                    is_over(MPI_Win_free(&win));
  if (!over) std::fprintf(stderr, "a window can be used after MPI_Finalize\n");
  return over ? 0 : 1;
}
