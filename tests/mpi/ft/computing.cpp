// A rank of another node computes for longer than the library waits for a network that is stuck, and then receives what a rank that finalizes has
// left for it: all of it arrives. A third rank has failed, so MPI_Finalize does not wait for the others. The clock of the rank that finalizes
// runs fast meanwhile.
#include <sys/syscall.h>
#include <time.h>

#include <atomic>

#include "mpi/board.hpp"
#include "mpi/ft/life.hpp"

using namespace test;

namespace {

constexpr int many = 5000;        // short messages: more than there is credit for, whatever the window is
constexpr int speed = 1000;       // of the clock
constexpr long enough = 100'000;  // microseconds of the real clock
std::atomic<std::int64_t> fast_from{0};

std::int64_t real_nanoseconds(clockid_t clock) {
  timespec now{};
  syscall(SYS_clock_gettime, clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

// In place of the C library's, also for MPI.
extern "C" [[gnu::visibility("default")]] int clock_gettime(clockid_t clock, timespec* time) noexcept {
  std::int64_t now = real_nanoseconds(clock);
  const std::int64_t from = fast_from.load();
  if (clock == CLOCK_MONOTONIC && from != 0) now = from + (now - from) * speed;
  *time = {now / 1'000'000'000, now % 1'000'000'000};
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  equal(size(), 3, "ranks");
  return_errors(MPI_COMM_WORLD);
  const Board board;  // its last call is a barrier, which the end of rank 2 may disturb
  if (rank() == 2) die();
  await_failures(MPI_COMM_WORLD, 1);
  std::vector<int> values(many);
  if (rank() == 0) {
    for (int i = 0; i < many; ++i) {
      MPI_Request request;
      values[static_cast<std::size_t>(i)] = i;
      succeeds(MPI_Isend(&values[static_cast<std::size_t>(i)], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request),
               "MPI_Isend");
      MPI_Request_free(&request);
    }
    board[0].store(1);
    fast_from = real_nanoseconds(CLOCK_MONOTONIC);
  } else {
    board.await(0, 1);
    usleep(enough);
    for (int i = 0; i < many; ++i) {
      int value = -1;
      succeeds(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
      equal(value, i, "a message");
    }
  }
  MPI_Finalize();
}
