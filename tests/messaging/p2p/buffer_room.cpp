// A buffer has room again for what it holds once its receiver has all of that and a barrier has passed, whatever the length of the
// messages, and whichever of several threads sends: MPI_Bsend moves on what is left of them before it says that there is no room.
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

constexpr int times = 200;
constexpr int lengths[] = {8, 10'000, 20'000, 1 << 20};
constexpr int threads = 4;

struct Buffer {
  Buffer(MPI_Comm c, int bytes) : comm(c), memory(static_cast<std::size_t>(bytes)) {
    MPI_Comm_attach_buffer(comm, memory.data(), bytes);
  }
  ~Buffer() {
    void* address;
    int size;
    MPI_Comm_detach_buffer(comm, &address, &size);
  }
  MPI_Comm comm;
  std::vector<char> memory;
};

// The n-th message of thread t.
std::vector<char> message(int length, int n, int t) {
  return std::vector<char>(static_cast<std::size_t>(length), static_cast<char>(n + 17 * t));
}

void receive(MPI_Comm comm, int length, int n, int t) {
  std::vector<char> in(static_cast<std::size_t>(length));
  MPI_Recv(in.data(), length, MPI_CHAR, 0, t, comm, MPI_STATUS_IGNORE);
  check(in == message(length, n, t), "data");
}

// One message at a time, in a buffer that holds just that.
void one(MPI_Comm comm, int length) {
  int refused = 0;
  const Buffer buffer(comm, length + MPI_BSEND_OVERHEAD);
  for (int n = 0; n < times; ++n) {
    int sent = 1;
    if (test::rank() == 0) {
      sent = MPI_Bsend(message(length, n, 0).data(), length, MPI_CHAR, 1, 0, comm) == MPI_SUCCESS;
      refused += !sent;
    }
    MPI_Bcast(&sent, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (sent && test::rank() == 1) receive(comm, length, n, 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (refused != 0) std::fprintf(stderr, "of %d messages of %d bytes %d found no room\n", times, length, refused);
  equal(refused, 0, "messages that found no room");
}

// One message of each of several threads.
void several(MPI_Comm comm, int length) {
  const Buffer buffer(comm, threads * (length + MPI_BSEND_OVERHEAD + 16));
  for (int n = 0; n < times / 4; ++n) {
    if (test::rank() == 0) {
      std::vector<std::jthread> team;
      for (int t = 0; t < threads; ++t)
        team.emplace_back([=] {
          equal(MPI_Bsend(message(length, n, t).data(), length, MPI_CHAR, 1, t, comm), MPI_SUCCESS, "room for each");
        });
    } else if (test::rank() == 1) {
      for (int t = threads; t-- > 0;) receive(comm, length, n, t);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// A message that has not been received keeps its place, and the call that finds none says so.
void full(MPI_Comm comm) {
  constexpr int length = 80'000;  // longer than what goes eagerly anywhere
  if (test::rank() == 0) {
    const Buffer buffer(comm, length + MPI_BSEND_OVERHEAD);
    const std::vector<char> out = message(length, 1, 0);
    equal(MPI_Bsend(out.data(), length, MPI_CHAR, 1, 0, comm), MPI_SUCCESS, "room");
    equal(test::class_of(MPI_Bsend(out.data(), length, MPI_CHAR, 1, 0, comm)), MPI_ERR_BUFFER, "no room");
    MPI_Send(nullptr, 0, MPI_CHAR, 1, 1, comm);
  } else if (test::rank() == 1) {
    MPI_Recv(nullptr, 0, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE);
    receive(comm, length, 1, 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  MPI_Comm comm;  // whose VNI is another than that of the barriers, where there are several
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int length : lengths) {
    one(comm, length);
    several(comm, length);
  }
  full(comm);
  MPI_Comm_free(&comm);
}
