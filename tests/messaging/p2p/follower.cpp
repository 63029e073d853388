// A send that waits behind another one of its thread, in another VNI, leaves when that one is cancelled: its thread is blocked by then, the
// thread that cancels makes no further call, and the receiver computes. With lanes and a passive wait.
#include <unistd.h>

#include <thread>
#include <vector>

#include "mpi/board.hpp"
#include "mpi/check.hpp"

using namespace test;

namespace {

constexpr int many = 2000;  // more than a channel holds
constexpr int full_tag = 0, next_tag = 1, over_tag = 2;
constexpr int left = 0;  // on the board: the send has left

void send(const Board& board) {
  int number = 0;
  std::vector<MPI_Request> full(many);
  for (MPI_Request& request : full) MPI_Isend(&number, 1, MPI_INT, 1, full_tag, MPI_COMM_WORLD, &request);
  MPI_Request next;
  MPI_Isend(&number, 1, MPI_INT, 1, next_tag, MPI_COMM_WORLD, &next);
  std::thread canceller([&] {
    usleep(50'000);  // the other thread blocks: no event says so
    for (auto request = full.rbegin(); request != full.rend(); ++request) MPI_Cancel(&*request);
    board.await(left, 1);
  });
  MPI_Wait(&next, MPI_STATUS_IGNORE);
  board[left].store(1);
  canceller.join();
  std::vector<MPI_Status> statuses(many);
  MPI_Waitall(many, full.data(), statuses.data());
  int sent = 0;
  for (MPI_Status& status : statuses) {
    int cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    sent += cancelled == 0 ? 1 : 0;
  }
  check(sent < many, "some sends waited, and were cancelled");
  MPI_Send(&sent, 1, MPI_INT, 1, over_tag, MPI_COMM_WORLD);
}

void receive(const Board& board) {
  int number = 0;
  board.await(left, 1);
  MPI_Recv(&number, 1, MPI_INT, 0, next_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int sent = 0;
  MPI_Recv(&sent, 1, MPI_INT, 0, over_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < sent; ++i) MPI_Recv(&number, 1, MPI_INT, 0, full_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  const Board board;
  rank() == 0 ? send(board) : receive(board);
  return 0;
}
