// The program's windows take all of the job's shared segment that they can get: who has never talked to a peer still can, of
// any length and in any mode, and so do collectives; and once there is memory again, so is everything.
#include <algorithm>
#include <vector>

#include "mpi/check.hpp"

using namespace test;

namespace {

// Takes all that is left of the segment, down to the smallest block.
class Filling {
 public:
  Filling() {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (MPI_Aint bytes = MPI_Aint{1} << 46; bytes >= 1;) {
      void* base;
      MPI_Win win;
      const int error = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_SELF, static_cast<void*>(&base), &win);
      if (error == MPI_SUCCESS) {
        windows_.push_back(win);
      } else {
        equal(class_of(error), MPI_ERR_NO_MEM, "of a window that does not fit");
        bytes /= 2;
      }
    }
  }
  Filling(const Filling&) = delete;
  Filling& operator=(const Filling&) = delete;
  ~Filling() {
    for (MPI_Win& win : windows_) MPI_Win_free(&win);
  }

 private:
  std::vector<MPI_Win> windows_;
};

std::vector<char> out(1 << 20, 'x'), in(1 << 20);

enum class How { send, isend, ssend, persistent };

int send(How how, int bytes, int peer) {
  MPI_Request request = MPI_REQUEST_NULL;
  int error = MPI_SUCCESS;
  switch (how) {
    case How::send:
      return MPI_Send(out.data(), bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
    case How::ssend:
      return MPI_Ssend(out.data(), bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
    case How::isend:
      error = MPI_Isend(out.data(), bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &request);
      return error != MPI_SUCCESS ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
    case How::persistent:
      MPI_Send_init(out.data(), bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &request);
      error = MPI_Start(&request);
      if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      return error;
  }
  return MPI_ERR_INTERN;
}

constexpr How ways[] = {How::send, How::isend, How::ssend, How::persistent};
constexpr int sizes[] = {8, 16 * 1024, 20 * 1024, 1 << 20};

void exchange(int from, int to) {
  for (const int bytes : sizes)
    for (const How how : ways) {
      if (rank() == from) equal(send(how, bytes, to), MPI_SUCCESS, "a send");
      if (rank() != to) continue;
      std::fill(in.begin(), in.end(), '-');
      MPI_Status status;
      equal(MPI_Recv(in.data(), bytes, MPI_CHAR, from, 1, MPI_COMM_WORLD, &status), MPI_SUCCESS, "a receive");
      check(in[0] == 'x' && in[static_cast<std::size_t>(bytes) - 1] == 'x', "what arrived");
    }
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  check(size() == 3, "three ranks");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  // Rank 0 has sent something to each of the others, and they nothing yet.
  char byte = 0;
  if (rank() == 0)
    for (int peer : {1, 2}) MPI_Send(&byte, 1, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
  else
    MPI_Recv(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank() == 0) {
    const Filling filling;
    for (int peer : {1, 2}) MPI_Send(&byte, 1, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
    // They answer, though they have not sent anything to us; the channel back is there.
    for (int peer : {1, 2}) exchange(0, peer);
    for (int peer : {1, 2}) MPI_Recv(&byte, 1, MPI_CHAR, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    exchange(0, rank());
    exchange(1, 2);
    exchange(2, 1);
    MPI_Send(&byte, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  exchange(1, 2);
  exchange(2, 1);
  exchange(0, 2);
}
