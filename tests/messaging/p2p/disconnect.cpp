// A rank's messages arrive although it frees the requests and finalizes at once: long messages of every kind of
// layout, while the receivers are still busy elsewhere.
#include <chrono>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::equal;

constexpr int sizes[] = {1000, 5000, 200000, 1000000};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = test::rank(), n = test::size();
  MPI_Datatype one, spread;
  MPI_Type_vector(1, 1, 2, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, 2 * sizeof(int), &spread);
  MPI_Type_free(&one);
  MPI_Type_commit(&spread);
  std::vector<std::vector<int>> out;
  if (me == 0) {
    for (int to = 1; to < n; ++to)
      for (int ints : sizes)
        for (MPI_Datatype type : {MPI_INT, spread}) {
          out.emplace_back(2 * static_cast<std::size_t>(ints), ints + to);
          MPI_Request request;
          MPI_Isend(out.back().data(), ints, type, to, 0, MPI_COMM_WORLD, &request);
          MPI_Request_free(&request);
          MPI_Issend(out.back().data(), 1, MPI_INT, to, 0, MPI_COMM_WORLD, &request);
          MPI_Request_free(&request);
        }
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(50 * me));  // rank 0 is in MPI_Finalize by now
    for (int ints : sizes)
      for (MPI_Datatype type : {spread, MPI_INT}) {
        std::vector<int> in(2 * static_cast<std::size_t>(ints), -1);
        MPI_Recv(in.data(), ints, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        equal(in[0], ints + me, "first");
        equal(in[static_cast<std::size_t>(type == MPI_INT ? ints - 1 : 2 * (ints - 1))], ints + me, "last");
        MPI_Recv(in.data(), 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        equal(in[0], ints + me, "synchronous");
      }
  }
  MPI_Type_free(&spread);
  MPI_Finalize();
}
