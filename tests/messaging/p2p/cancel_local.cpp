// MPI_Wait of a send that was marked for cancellation returns whatever the receiver does (MPI 5.0, section 3.8.4): here the receiver computes
// until the wait has returned. Then the message is received if and only if it was not cancelled, from a buffer that its sender has used again.
//
// With an argument the program leaves out the case in which the receiver has begun to take the data: within a node it copies them from the
// buffer of the sender.
#include <algorithm>
#include <vector>

#include "mpi/board.hpp"
#include "mpi/check.hpp"

namespace {

constexpr int to = 1;
constexpr int tag = 1;
constexpr int outcome = 2;

// The receiver's actions before it computes.
enum class Receiver { nothing, receive_posted, receive_matched };

struct Case {
  int bytes;
  Receiver receiver;
  int (*send)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
};

constexpr Case cases[] = {
    {8, Receiver::nothing, MPI_Isend},
    {300'000, Receiver::nothing, MPI_Isend},
    {300'000, Receiver::receive_posted, MPI_Isend},
    {300'000, Receiver::receive_posted, MPI_Irsend},
    {16'000'000, Receiver::receive_matched, MPI_Isend},  // more than a network has room for
};
constexpr int rounds = 2;

char value(int word) { return static_cast<char>('a' + word % 20); }

// Words of the board count phases: `left` by the sender, `seen` by the receiver.
enum Word { left, seen };

void test_often(MPI_Request& request) {
  int flag = 0;
  for (int i = 0; i < 200 && !flag; ++i) {
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    usleep(20);
  }
}

void send(const Case& what, const test::Board& board, int& phase) {
  std::vector<char> data(static_cast<std::size_t>(what.bytes), value(phase));
  board.await(seen, ++phase);
  MPI_Request request;
  what.send(data.data(), what.bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD, &request);
  board[left].store(phase);
  board.await(seen, ++phase);
  if (what.receiver == Receiver::receive_matched) test_often(request);
  int cancelled = 0;
  if (request != MPI_REQUEST_NULL) {
    MPI_Status status;
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
  }
  board[left].store(phase);
  std::fill(data.begin(), data.end(), '?');
  MPI_Send(&cancelled, 1, MPI_INT, to, outcome, MPI_COMM_WORLD);
}

// In blocks with gaps: the network then takes pieces, and not the buffer of the sender.
void receive(const Case& what, const test::Board& board, int& phase) {
  const int block = std::min(what.bytes, 1000);
  MPI_Datatype type;
  MPI_Type_vector(what.bytes / block, block, 2 * block, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  std::vector<char> data(2 * static_cast<std::size_t>(what.bytes), '!');
  const char expected = value(phase);
  MPI_Request request = MPI_REQUEST_NULL;
  const auto post = [&] { MPI_Irecv(data.data(), 1, type, 0, tag, MPI_COMM_WORLD, &request); };
  if (what.receiver != Receiver::nothing) post();
  board[seen].store(++phase);
  board.await(left, phase);
  if (what.receiver == Receiver::receive_matched) test_often(request);
  board[seen].store(++phase);
  board.await(left, phase);
  int cancelled = -1;
  MPI_Recv(&cancelled, 1, MPI_INT, 0, outcome, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (cancelled == 0 && what.receiver == Receiver::nothing) post();
  if (cancelled != 0 && request != MPI_REQUEST_NULL) MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
  const auto received = static_cast<std::size_t>(std::count(data.begin(), data.end(), expected));
  test::equal(received, cancelled == 0 ? data.size() / 2 : 0, "bytes: received or cancelled, as a whole");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const test::Board board;
  int phase = 0;
  const bool with_matched = argc == 1;
  for (int round = 0; round < rounds; ++round)
    for (const Case& what : cases) {
      if (what.receiver == Receiver::receive_matched && !with_matched) continue;
      test::rank() == 0 ? send(what, board, phase) : receive(what, board, phase);
      MPI_Barrier(MPI_COMM_WORLD);  // the sender makes progress for what has not been cancelled
    }
  return 0;
}
