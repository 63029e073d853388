// A thread blocks in MPI_Recv. Another one begins to receive a long message that has been announced, and waits outside of MPI
// for the first. The message arrives only if the blocked thread is woken for it. 2 ranks.
#include <mpi.h>

#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

constexpr int rounds = 20, long_tag = 1, last_tag = 2, bytes = 20 * 1024;

void receive() {
  std::vector<char> text(bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  std::thread other([&] { MPI_Irecv(text.data(), bytes, MPI_CHAR, 1, long_tag, MPI_COMM_WORLD, &request); });
  MPI_Recv(nullptr, 0, MPI_CHAR, 1, last_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  other.join();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  test::equal(text.back(), 'x', "the end of the long message");
}

void send() {
  const std::vector<char> text(bytes, 'x');
  MPI_Send(text.data(), bytes, MPI_CHAR, 0, long_tag, MPI_COMM_WORLD);
  MPI_Send(nullptr, 0, MPI_CHAR, 0, last_tag, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  for (int round = 0; round != rounds; ++round) test::rank() == 0 ? receive() : send();
}
