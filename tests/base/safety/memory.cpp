// The memory of a rank does not grow with the number of messages: what a lock needs for an acquisition it gets back, also where each
// acquisition has a node of its own (base/safety/thread_node.hpp).
#include <malloc.h>

#include <cstddef>

#include "base/threads/team.hpp"

extern "C" [[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes();  // where a sanitizer has malloc

namespace {

using namespace test;

constexpr int threads = 4;
constexpr int messages = 40;  // of a thread in one round
constexpr int rounds = 6;     // twice each of the ways in which a runtime may place its threads (runtime.hpp)

// Bytes that the process, hence the library too, has from malloc and has not given back.
long bytes_in_use() {
  if (__sanitizer_get_current_allocated_bytes != nullptr)
    return static_cast<long>(__sanitizer_get_current_allocated_bytes());
  const struct mallinfo2 all = mallinfo2();
  return static_cast<long>(all.uordblks + all.hblkhd);
}

void exchange(MPI_Comm comm, int t) {
  for (int i = 0; i < messages; ++i) {
    int in = -1;
    const int out = i;
    MPI_Request receive;
    MPI_Irecv(&in, 1, MPI_INT, left(), t, comm, &receive);
    MPI_Send(&out, 1, MPI_INT, right(), t, comm);
    if (i % 2 == 0) {
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
    } else {
      for (int done = 0; !done; be_interrupted()) MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
    }
    equal(in, out, "a message");
  }
}

long bytes_after_rounds(MPI_Comm comm) {
  for (int round = 0; round < rounds; ++round) in_threads(threads, [&](int t) { exchange(comm, t); });
  MPI_Barrier(comm);
  return bytes_in_use();
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  const long before = bytes_in_use();
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  check(bytes_in_use() > before, "what the library allocates is counted");
  // A leak grows each time, by a cell for each message at least. A thread that finds others in its place may need more than
  // before once, and a user-level thread that has just ended may still have its stack.
  constexpr int times = 4;
  constexpr long of_messages = long{threads} * messages * rounds;
  bool grows = true;
  long before_that = bytes_after_rounds(comm);
  for (int i = 0; i < times; ++i) {
    const long now = bytes_after_rounds(comm);
    std::printf("rank %d: %ld bytes more after %ld messages more\n", rank(), now - before_that, of_messages);
    grows = grows && now - before_that >= of_messages;
    before_that = now;
  }
  check(!grows, "memory does not grow with the number of messages");
  MPI_Comm_free(&comm);
}
