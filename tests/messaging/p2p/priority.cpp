// A short message beside a long one to another node, under strategy=priority: counted in pieces, whose data have so many bytes
// (argument). While the receiver of both does nothing, few pieces leave; and the short message has come when few pieces have.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mpi/board.hpp"
#include "mpi/check.hpp"
#include "mpi/tool/tool.hpp"

namespace {

using test::check;

constexpr int pieces = 5000;
constexpr int on_their_way = 8;  // src/messaging/message/outbox/priority.hpp
constexpr int other_packets = 24;
constexpr int while_one_comes = 64;
enum Tag { the_long_one = 1, the_short_one, ready, go };
enum Word { stalled, posted };

void send(const test::Board& board, std::vector<char>& data) {
  const test::Tool tool;
  MPI_T_pvar_session session;
  test::ok(MPI_T_pvar_session_create(&session), "MPI_T_pvar_session_create");
  {
    const test::Counter packets(session, "vni_packets_sent_to_other_nodes");
    std::fill(data.begin(), data.end(), 'x');
    MPI_Request request;
    MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_CHAR, 1, the_long_one, MPI_COMM_WORLD, &request);
    MPI_Recv(nullptr, 0, MPI_CHAR, 1, ready, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(nullptr, 0, MPI_CHAR, 1, go, MPI_COMM_WORLD);
    int done = 0;
    for (int i = 0; i < 20'000; ++i) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    check(!done, "a long message has left that its receiver does not take");
    board[posted] = static_cast<int>(packets.read());
    MPI_Send(nullptr, 0, MPI_CHAR, 1, the_short_one, MPI_COMM_WORLD);
    board[stalled] = 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  test::ok(MPI_T_pvar_session_free(&session), "MPI_T_pvar_session_free");
}

int come(const std::vector<char>& data, std::size_t piece) {
  return static_cast<int>(static_cast<std::size_t>(std::ranges::count(data, 'x')) / piece);
}

void receive(const test::Board& board, std::vector<char>& data, std::size_t piece) {
  MPI_Request request;
  MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_CHAR, 0, the_long_one, MPI_COMM_WORLD, &request);
  MPI_Send(nullptr, 0, MPI_CHAR, 0, ready, MPI_COMM_WORLD);
  MPI_Recv(nullptr, 0, MPI_CHAR, 0, go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int before = come(data, piece);
  board.await(stalled, 1);
  std::printf("%d pieces of %d had come, %d packets were sent\n", before, pieces, board[posted].load());
  check(before < pieces / 2, "the long message is half there, and the test has nothing to see");
  check(board[posted] <= before + on_their_way + other_packets, "more pieces are on their way than may be");
  MPI_Recv(nullptr, 0, MPI_CHAR, 0, the_short_one, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int now = come(data, piece);
  std::printf("%d had come when the short message did\n", now);
  check(now <= before + while_one_comes, "the short message has come behind the long one");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(std::ranges::count(data, 'x') == static_cast<long>(data.size()), "the data of the long message");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  check(argc > 1, "bytes of a piece");
  const std::size_t piece = std::strtoul(argv[1], nullptr, 10);
  std::vector<char> data(pieces * piece);
  const test::Board board;
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank() == 0) {
    send(board, data);
  } else {
    receive(board, data, piece);
  }
}
