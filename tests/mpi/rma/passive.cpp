// Passive target communication needs no call of the target: while it computes, and looks at its own memory, another locks it, writes,
// adds and reads there, and the target sees what has come.
#include <atomic>

#include "harness.hpp"

using namespace test;

namespace {

constexpr long rounds = 20;
constexpr int longer = 50000;  // elements, of several messages

// The origin writes the number of the round last; the target answers it in memory that the origin reads.
void ping(Flavor flavor) {
  Window<long> window(flavor, 2 + longer);
  std::atomic_ref<long> asked(window.data[0]);
  std::atomic_ref<long> answered(window.data[1]);
  std::vector<long> many(longer);
  if (rank() == 0) {
    for (long round = 1; round <= rounds; ++round) {
      for (long& value : many) value = round;
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window.win);
      MPI_Put(many.data(), longer, MPI_LONG, 1, window.disp(1, 2), longer, MPI_LONG, window.win);
      MPI_Win_flush(1, window.win);
      const long one = 1;
      MPI_Accumulate(&one, 1, MPI_LONG, 1, window.disp(1, 0), 1, MPI_LONG, MPI_SUM, window.win);
      MPI_Win_flush(1, window.win);
      for (long answer = 0; answer != round;) {
        MPI_Fetch_and_op(nullptr, &answer, MPI_LONG, 1, window.disp(1, 1), MPI_NO_OP, window.win);
        MPI_Win_flush(1, window.win);
      }
      MPI_Win_unlock(1, window.win);
    }
  } else if (rank() == 1) {
    for (long round = 1; round <= rounds; ++round) {
      while (asked.load() != round) std::this_thread::yield();
      equal(window.data[2], round, "the first of what was put before");
      equal(window.data[1 + longer], round, "the last");
      answered.store(round);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  for (Flavor flavor : flavors()) ping(flavor);
}
