// Kernel threads that end together, right after their last message: what the library keeps for a thread is given back by
// the thread itself, in competition with the others. An object that a user-level runtime would make for a thread so late leaks.
#include <latch>
#include <mutex>
#include <thread>

#include "base/threads/team.hpp"

namespace {

using namespace test;

const int threads = team_size(64);

void one_message_each(MPI_Comm comm) {
  std::latch all_done(threads);
  std::mutex in_turns;  // so that no thread waits in the library before its end
  std::vector<std::jthread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      {
        const std::lock_guard turn(in_turns);
        int in = -1;
        MPI_Request requests[2];
        MPI_Irecv(&in, 1, MPI_INT, rank(), t, comm, &requests[0]);
        MPI_Isend(&t, 1, MPI_INT, rank(), t, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        equal(in, t, "a thread's only message");
      }
      all_done.arrive_and_wait();
    });
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  for (int round = 0; round < 40; ++round) one_message_each(MPI_COMM_WORLD);
}
