// Blocking sends to a rank on another node that does not receive: some are done, as many as there is credit for, and the others wait. A job of its
// own, since a window of credit gets wider in one that has received for a while.
#include "mpi/board.hpp"
#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

constexpr int window = 64 * 1024;  // docs/guides/networks.md
constexpr int blocking = 400;      // a round trip each where there is no credit
constexpr int few = 100;           // short messages, for which there is credit
enum Tag { data = 1, nobody };

// With progress, but no receive.
void poll() {
  int there;
  MPI_Iprobe(MPI_ANY_SOURCE, nobody, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  equal(there, 0, "nobody has sent that");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session mpi(&argc, &argv);
  test::Board board;
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank() == 0) {
    for (int i = 0; i < blocking; ++i) {
      MPI_Send(&i, 1, MPI_INT, 1, data, MPI_COMM_WORLD);
      board[0].store(i + 1);
    }
  } else {
    while (board[0].load() < few) poll();
    for (int i = 0; i < 200; ++i) poll();
    check(board[0].load() <= window / 256, "more sends are done than there is credit for");
    for (int i = 0; i < blocking; ++i) {
      int got = -1;
      MPI_Recv(&got, 1, MPI_INT, 0, data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      equal(got, i);
    }
  }
}
