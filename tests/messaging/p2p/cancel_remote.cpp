// Cancelling sends to another node, where no memory is shared: the sender asks for its message back, and the receiver answers when it
// next makes progress. A message that has not been received is cancelled, another is not, and none is received twice or in part.
#include <vector>

#include "mpi/check.hpp"

namespace {

constexpr int rounds = 200;
constexpr int to = 1;
enum Tag { go = 6, never_received, perhaps_received, outcome };

int bytes_of(int round) { return round % 2 == 0 ? 8 : 300'000; }

bool was_cancelled(MPI_Request& request) {
  MPI_Status status;
  MPI_Wait(&request, &status);
  int flag = 0;
  MPI_Test_cancelled(&status, &flag);
  return flag != 0;
}

void send(int round) {
  const int bytes = bytes_of(round);
  const std::vector<char> wrong(static_cast<std::size_t>(bytes), 'x');
  const std::vector<char> right(static_cast<std::size_t>(bytes), static_cast<char>(round));
  MPI_Request request;
  // It is not received yet; in some rounds it has certainly left.
  MPI_Issend(wrong.data(), bytes, MPI_CHAR, to, never_received, MPI_COMM_WORLD, &request);
  if (round % 3 == 0) {
    MPI_Ssend(nullptr, 0, MPI_CHAR, to, go, MPI_COMM_WORLD);
  }
  MPI_Cancel(&request);
  if (round % 5 == 0) MPI_Cancel(&request);
  test::check(was_cancelled(request), "a send that is not received is cancelled");
  MPI_Send(nullptr, 0, MPI_CHAR, to, go, MPI_COMM_WORLD);
  MPI_Ssend(right.data(), bytes, MPI_CHAR, to, never_received, MPI_COMM_WORLD);

  // One of the two comes first.
  MPI_Issend(right.data(), bytes, MPI_CHAR, to, perhaps_received, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  const int cancelled = was_cancelled(request);
  MPI_Send(&cancelled, 1, MPI_INT, to, outcome, MPI_COMM_WORLD);
}

void receive(int round) {
  const int bytes = bytes_of(round);
  std::vector<char> got(static_cast<std::size_t>(bytes));
  const auto check_got = [&] {
    for (const char c : got) test::equal(c, static_cast<char>(round));
  };
  if (round % 3 == 0) MPI_Recv(nullptr, 0, MPI_CHAR, 0, go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(nullptr, 0, MPI_CHAR, 0, go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(got.data(), bytes, MPI_CHAR, 0, never_received, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check_got();

  got.assign(got.size(), '?');
  MPI_Request request;
  MPI_Irecv(got.data(), bytes, MPI_CHAR, 0, perhaps_received, MPI_COMM_WORLD, &request);
  int cancelled = -1;
  MPI_Recv(&cancelled, 1, MPI_INT, 0, outcome, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (cancelled != 0) MPI_Cancel(&request);
  test::equal(was_cancelled(request), cancelled != 0, "it is received or cancelled, and not both");
  if (cancelled == 0) check_got();
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  for (int round = 0; round < rounds; ++round) test::rank() == 0 ? send(round) : receive(round);
  return 0;
}
