// Threads that share a kernel thread: the work that one of them leaves when it waits is not forgotten by the thread that makes
// progress for all of them.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/threads/team.hpp"
#include "mpi/board.hpp"

namespace {

using namespace test;

constexpr int many = 8000;  // more messages than any channel has room for
constexpr std::chrono::milliseconds long_time{30};
constexpr int data_tag = 1, found_tag = 2, done_tag = 3;

struct Flood {
  std::vector<long> values = std::vector<long>(many);
  std::vector<MPI_Request> requests = std::vector<MPI_Request>(many);

  explicit Flood(int to) {
    for (int i = 0; i < many; ++i) {
      values[static_cast<std::size_t>(i)] = i;
      MPI_Isend(&values[static_cast<std::size_t>(i)], 1, MPI_LONG, to, data_tag, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(i)]);
    }
  }
  void wait() { MPI_Waitall(many, requests.data(), MPI_STATUSES_IGNORE); }
};

void receive_flood(int from) {
  for (int i = 0; i < many; ++i) {
    long value = -1;
    MPI_Recv(&value, 1, MPI_LONG, from, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    equal(value, i, "in order");
  }
}

// A word that rank 0 sets and rank 1 watches without a call of MPI, so that its channel stays full meanwhile.
class Signal {
 public:
  void set() { board_[0].store(1); }
  void await() { board_.await(0, 1); }

 private:
  Board board_;
};

// A thread has waited for long, has been answered by another of its rank, and then waits for room in a full channel: the thread
// that sleeps for the rank since the first wait must come to know of the second.
void waits_for_room_after_a_long_wait() {
  Signal full;
  if (rank() != 0) {
    full.await();
    receive_flood(0);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, done_tag, MPI_COMM_WORLD);
    return;
  }
  in_threads(2, [&](int t) {
    if (t == 0) {
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, found_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      Flood flood(1);
      flood.wait();
    } else {
      sleep(long_time);
      MPI_Send(nullptr, 0, MPI_BYTE, 0, found_tag, MPI_COMM_WORLD);
      sleep(long_time);
      full.set();
    }
  });
  MPI_Recv(nullptr, 0, MPI_BYTE, 1, done_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  for (int arrangement = 0; arrangement < 3; ++arrangement) {  // of threads; in_threads goes through them
    waits_for_room_after_a_long_wait();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
