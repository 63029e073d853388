// A message that a rank has deferred to share a packet, to a rank on another node, leaves although the program makes no call: all of a burst
// arrives while its sender computes, and so it does after a long time in which the sender came back again and again.
#include <sched.h>

#include <array>
#include <chrono>

#include "mpi/board.hpp"
#include "mpi/check.hpp"

using namespace test;

namespace {

constexpr int burst = 8, window = 64;
constexpr int windows = 300, bursts = 20;
constexpr std::chrono::seconds limit{60};

using Requests = std::array<MPI_Request, window>;
using Values = std::array<int, window>;

void send(Values& values, Requests& requests, int count, int number) {
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    values[at] = number + i;
    MPI_Isend(&values[at], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[at]);
  }
}
void receive(int count, int number) {
  for (int i = 0; i < count; ++i) {
    int value = -1;
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    equal(value, number + i, "a message");
  }
}

void talk() {
  Values values;
  Requests requests;
  for (int number = 0; number < windows; ++number) {
    if (rank() == 0) {
      send(values, requests, window, number);
      MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
      MPI_Recv(nullptr, 0, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      receive(window, number);
      MPI_Send(nullptr, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
  }
}

// `received` counts the bursts that have arrived.
void compute_between_bursts(Board::Word& received) {
  Values values;
  Requests requests;
  for (int number = 0; number < bursts; ++number) {
    if (rank() != 0) {
      receive(burst, number);
      received.fetch_add(1);
      continue;
    }
    const int before = received.load();
    send(values, requests, burst, number);
    const auto begin = std::chrono::steady_clock::now();
    while (received.load() == before && std::chrono::steady_clock::now() - begin < limit) sched_yield();
    check(received.load() == before + 1, "a deferred message leaves while its sender computes");
    MPI_Waitall(burst, requests.data(), MPI_STATUSES_IGNORE);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  equal(size(), 2, "ranks");
  Board board;
  for (int i = 0; i < 3; ++i) {
    compute_between_bursts(board[0]);
    talk();
  }
}
