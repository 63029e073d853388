// A rank that waits sleeps: its process, with all threads of the library, uses less than 2% of a core.
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "mpi/check.hpp"

namespace {

constexpr auto waits = std::chrono::seconds(4);

// Seconds of all threads of this process.
double cpu_time() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = test::rank();
  MPI_Barrier(MPI_COMM_WORLD);
  int value = 0;
  if (me == 0) {
    const double before = cpu_time();
    std::this_thread::sleep_for(waits);
    test::check(cpu_time() - before < 0.02 * std::chrono::duration<double>(waits).count(),
                "a rank that computes nothing");
    for (int to = 1; to < test::size(); ++to) MPI_Send(&value, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
  } else {
    const double before = cpu_time();
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double used = cpu_time() - before;
    if (used >= 0.02 * std::chrono::duration<double>(waits).count()) std::fprintf(stderr, "%.3f s of CPU time\n", used);
    test::check(used < 0.02 * std::chrono::duration<double>(waits).count(), "a rank that waits in MPI_Recv");
  }
  MPI_Finalize();
}
