// Threads that keep the library busy with calls which need no progress must not keep it from a thread that only tests.
#include <atomic>

#include "base/threads/team.hpp"

namespace {

using namespace test;

constexpr int large = 300000;
constexpr int rounds = 5;

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  std::atomic<bool> over = false;
  in_threads(team_size(4), [&](int t) {
    if (t == 0) {
      for (int i = 0; i < rounds; ++i) {
        std::vector<unsigned char> out = message(mix(rank(), i), large), in(large);
        MPI_Request requests[2];
        MPI_Isend(out.data(), large, MPI_BYTE, right(), 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in.data(), large, MPI_BYTE, left(), 1, MPI_COMM_WORLD, &requests[1]);
        for (MPI_Request& request : requests)
          for (int flag = 0; !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        expect_message(in, mix(left(), i), "beside busy threads");
      }
      over = true;
      return;
    }
    while (!over) {
      MPI_Request request;
      MPI_Irecv(nullptr, 0, MPI_BYTE, left(), 100 + t, MPI_COMM_WORLD, &request);
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      be_interrupted();
    }
  });
}
