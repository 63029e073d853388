// Locks with several threads a rank: exclusive ones exclude, shared ones do not, waiting ranks are woken.
#include <atomic>

#include "harness.hpp"

using namespace test;

namespace {

constexpr int threads = 3;
constexpr int rounds = 40;

// Everyone adds to two counters of every rank by reading and writing, which only works if no other rank is there.
void counters(Flavor flavor) {
  Window<long> window(flavor, 2);
  in_threads(threads, [&](int thread) {
    for (int round = 0; round < rounds; ++round) {
      const int target = (rank() + thread + round) % size();
      long value[2];
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.win);
      MPI_Get(value, 2, MPI_LONG, target, window.disp(target), 2, MPI_LONG, window.win);
      MPI_Win_flush(target, window.win);
      equal(value[0], value[1], "both counters are changed together");
      ++value[0];
      ++value[1];
      MPI_Put(&value[0], 1, MPI_LONG, target, window.disp(target, 0), 1, MPI_LONG, window.win);
      MPI_Put(&value[1], 1, MPI_LONG, target, window.disp(target, 1), 1, MPI_LONG, window.win);
      MPI_Win_unlock(target, window.win);
    }
  });
  MPI_Barrier(MPI_COMM_WORLD);
  long sum;
  MPI_Allreduce(&window.data[0], &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  equal(sum, long{threads} * rounds * size(), name(flavor));
}

// All ranks hold shared locks on rank 0 at the same time: each waits in its epoch for a message from the others.
void together(Flavor flavor) {
  Window<int> window(flavor, 1);
  for (int round = 0; round < 3; ++round) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock(0, window.win);
    MPI_Win_lock_all(0, window.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(window.win);
  }
}

// Exclusive locks on single ranks against locks on all: a pair is only ever seen changed as a whole.
void mixed(Flavor flavor) {
  Window<int> window(flavor, 2);
  for (int round = 0; round < rounds; ++round) {
    const int target = (rank() + round) % size();
    if (round % 4 == 3) {
      MPI_Win_lock_all(0, window.win);
      int pair[2];
      MPI_Get(pair, 2, MPI_INT, target, window.disp(target), 2, MPI_INT, window.win);
      MPI_Win_unlock_all(window.win);
      equal(pair[0], pair[1], "a pair under a shared lock");
    } else {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.win);
      const int value = 1000 * rank() + round;
      MPI_Put(&value, 1, MPI_INT, target, window.disp(target, 0), 1, MPI_INT, window.win);
      MPI_Put(&value, 1, MPI_INT, target, window.disp(target, 1), 1, MPI_INT, window.win);
      MPI_Win_unlock(target, window.win);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// A thread that waits for a lock makes progress and sleeps; one that waits for a message does not keep the lock's
// other threads from theirs.
void beside_messages(Flavor flavor) {
  Window<int> window(flavor, 1);
  const int right = (rank() + 1) % size();
  const int left = (rank() + size() - 1) % size();
  in_threads(2, [&](int thread) {
    for (int round = 0; round < rounds; ++round) {
      if (thread == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.win);
        int value;
        MPI_Get(&value, 1, MPI_INT, 0, window.disp(0), 1, MPI_INT, window.win);
        MPI_Win_flush(0, window.win);
        ++value;
        MPI_Put(&value, 1, MPI_INT, 0, window.disp(0), 1, MPI_INT, window.win);
        MPI_Win_unlock(0, window.win);
      } else {
        int in, out = round;
        MPI_Sendrecv(&out, 1, MPI_INT, right, 0, &in, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        equal(in, round, "a message beside locks");
      }
    }
  });
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) equal(window.data[0], rounds * size(), name(flavor));
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  for (Flavor flavor : flavors()) {
    counters(flavor);
    together(flavor);
    mixed(flavor);
    beside_messages(flavor);
  }
}
