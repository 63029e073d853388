// A rank's messages arrive, although none of its threads calls MPI again before it has: also when a thread found another one inside,
// and that one has left since.
#include <chrono>

#include "base/threads/team.hpp"
#include "mpi/board.hpp"

namespace {

using namespace test;

constexpr int rounds = 1000;
constexpr int tag = 1;
constexpr int other_tag = 2;
constexpr int longest = 20'000;  // ns that several calls take

// Messages whose bytes are copied inside.
constexpr int several = 4;
constexpr int bytes = 8 * 1024;

void send_several() {
  const std::vector<char> data(bytes);
  for (int i = 0; i < several; ++i) MPI_Send(data.data(), bytes, MPI_CHAR, 1, other_tag, MPI_COMM_WORLD);
}
void receive_several() {
  std::vector<char> data(bytes);
  for (int i = 0; i < several; ++i)
    MPI_Recv(data.data(), bytes, MPI_CHAR, 0, other_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void stay_outside(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  const auto seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : static_cast<unsigned long long>(getpid());
  if (rank() == 1) std::printf("seed %llu (give it as the first argument to repeat)\n", seed);
  const Board board;
  for (int round = 0; round < rounds; ++round) {
    if (rank() == 0) {
      send_several();
      int received = -1;
      MPI_Recv(&received, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      equal(received, round, "the message of this round");
      board[0].store(round + 1);
      continue;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    in_threads(2, [&](int t) {
      if (t == 0) return receive_several();
      stay_outside(std::chrono::nanoseconds(Random(seed, round).below(longest)));
      MPI_Isend(&round, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &request);
    });
    board.await(0, round + 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
