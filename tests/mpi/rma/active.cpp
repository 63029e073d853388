// Post, start, complete, wait: rings, stars, many rounds in a row, several threads that put in one epoch.
#include "harness.hpp"

using namespace test;

namespace {

MPI_Group group_of(std::vector<int> ranks) {
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Group_free(&world);
  return group;
}

// Each round everyone exposes its window to the left and accesses that of the right.
void ring(Flavor flavor, int assertion) {
  Window<int> window(flavor, 1, -1);
  const int right = (rank() + 1) % size();
  const int left = (rank() + size() - 1) % size();
  MPI_Group origins = group_of({left});
  MPI_Group targets = group_of({right});
  for (int round = 0; round < 50; ++round) {
    const int value = 1000 * round + rank();
    MPI_Win_post(origins, assertion, window.win);
    if (assertion & MPI_MODE_NOCHECK) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_start(targets, assertion & MPI_MODE_NOCHECK, window.win);
    MPI_Put(&value, 1, MPI_INT, right, window.disp(right), 1, MPI_INT, window.win);
    MPI_Win_complete(window.win);
    MPI_Win_wait(window.win);
    equal(window.data[0], 1000 * round + left, name(flavor));
  }
  MPI_Group_free(&origins);
  MPI_Group_free(&targets);
}

// Rank 0 exposes, the others add to it with several threads in one epoch; rank 0 tests until they are there.
void star(Flavor flavor) {
  constexpr int threads = 3;
  constexpr int adds = 5;
  Window<int> window(flavor, 1);
  std::vector<int> others;
  for (int r = 1; r < size(); ++r) others.push_back(r);
  for (int round = 1; round <= 10; ++round) {
    if (rank() == 0) {
      MPI_Group origins = group_of(others);
      MPI_Win_post(origins, 0, window.win);
      for (int flag = 0; !flag;) MPI_Win_test(window.win, &flag);
      equal(window.data[0], round * threads * adds * (size() - 1), name(flavor));
      MPI_Group_free(&origins);
    } else {
      MPI_Group targets = group_of({0});
      MPI_Win_start(targets, 0, window.win);
      in_threads(threads, [&](int) {
        const int one = 1;
        for (int i = 0; i < adds; ++i)
          MPI_Accumulate(&one, 1, MPI_INT, 0, window.disp(0), 1, MPI_INT, MPI_SUM, window.win);
      });
      MPI_Win_complete(window.win);
      MPI_Group_free(&targets);
    }
  }
}

// An origin meets its targets one after the other, although the later ones have posted long before.
void in_turn(Flavor flavor) {
  Window<int> window(flavor, 1, -1);
  if (rank() != 0) {
    MPI_Group origins = group_of({0});
    for (int round = 0; round < 3; ++round) {
      MPI_Win_post(origins, 0, window.win);
      MPI_Win_wait(window.win);
      equal(window.data[0], 10 * round + rank(), name(flavor));
    }
    MPI_Group_free(&origins);
  } else {
    for (int round = 0; round < 3; ++round) {
      for (int target = size() - 1; target > 0; --target) {
        MPI_Group targets = group_of({target});
        MPI_Win_start(targets, 0, window.win);
        const int value = 10 * round + target;
        MPI_Put(&value, 1, MPI_INT, target, window.disp(target), 1, MPI_INT, window.win);
        MPI_Win_complete(window.win);
        MPI_Group_free(&targets);
      }
    }
  }
}

// No accesses, in either direction.
void empty(Flavor flavor) {
  Window<int> window(flavor, 1);
  MPI_Win_post(MPI_GROUP_EMPTY, 0, window.win);
  MPI_Win_start(MPI_GROUP_EMPTY, 0, window.win);
  MPI_Win_complete(window.win);
  int flag = 0;
  MPI_Win_test(window.win, &flag);
  equal(flag, 1, "an exposure to no origin is over");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  for (Flavor flavor : flavors()) {
    ring(flavor, 0);
    ring(flavor, MPI_MODE_NOCHECK);
    star(flavor);
    in_turn(flavor);
    empty(flavor);
  }
}
