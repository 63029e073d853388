// Memory runs out in the middle of partitioned communication: each allocation of one side fails in turn, in its init call, in a
// start, in marking a partition, in asking whether one has arrived, and in a wait. A call that fails with MPI_ERR_NO_MEM succeeds
// when it is repeated, and every round brings each partition once.
//
// With the argument for-good the receiver's memory does not come back, and the job ends; with nodes messages are shorter.
#include <algorithm>
#include <string_view>
#include <vector>

#include "messaging/p2p/failing_malloc.hpp"
#include "messaging/p2p/rounds.hpp"
#include "mpi/check.hpp"

using namespace test;

namespace {

constexpr int tag = 3;

int value(int round, int index) { return round * 1009 + index; }

struct Shape {
  int ints;
  int sends;
  int receives;
  int grain;  // ints of one element of the receiver's datatype
};

void send_all(Round& round, const Shape& shape, bool ranges) {
  std::vector<int> out(static_cast<std::size_t>(shape.ints));
  MPI_Request request = MPI_REQUEST_NULL;
  insist(
      round,
      [&] {
        return MPI_Psend_init(out.data(), shape.sends, shape.ints / shape.sends, MPI_INT, 1 - rank(), tag,
                              MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      },
      "making a partitioned send");
  for (int r = 0; r < 2; ++r) {
    for (int i = 0; i < shape.ints; ++i) out[static_cast<std::size_t>(i)] = value(r, i);
    insist(
        round, [&] { return MPI_Start(&request); }, "starting a partitioned send");
    if (ranges) {
      insist(
          round, [&] { return MPI_Pready_range(0, shape.sends - 1, request); }, "marking all partitions");
    } else {
      for (int p = shape.sends - 1; p >= 0; --p)
        insist(
            round, [&] { return MPI_Pready(p, request); }, "marking a partition");
    }
    insist(
        round, [&] { return MPI_Wait(&request, MPI_STATUS_IGNORE); }, "the end of a partitioned send");
  }
  insist(
      round, [&] { return MPI_Request_free(&request); }, "freeing a partitioned send");
}

void receive_all(Round& round, const Shape& shape) {
  MPI_Datatype element;
  MPI_Type_contiguous(shape.grain, MPI_INT, &element);
  MPI_Type_commit(&element);
  std::vector<int> in(static_cast<std::size_t>(shape.ints));
  MPI_Request request = MPI_REQUEST_NULL;
  insist(
      round,
      [&] {
        return MPI_Precv_init(in.data(), shape.receives, shape.ints / shape.receives / shape.grain, element, 1 - rank(),
                              tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      },
      "making a partitioned receive");
  for (int r = 0; r < 2; ++r) {
    std::fill(in.begin(), in.end(), -1);
    insist(
        round, [&] { return MPI_Start(&request); }, "starting a partitioned receive");
    for (int p = 0; p < shape.receives; ++p)
      for (int arrived = 0; !arrived;)
        insist(
            round, [&] { return MPI_Parrived(request, p, &arrived); }, "asking for a partition");
    insist(
        round, [&] { return MPI_Wait(&request, MPI_STATUS_IGNORE); }, "the end of a partitioned receive");
    for (int i = 0; i < shape.ints; ++i) equal(in[static_cast<std::size_t>(i)], value(r, i), "what arrived");
  }
  insist(
      round, [&] { return MPI_Request_free(&request); }, "freeing a partitioned receive");
  MPI_Type_free(&element);
}

void exchange(Round& round, int from, const Shape& shape, bool ranges) {
  rank() == from ? send_all(round, shape, ranges) : receive_all(round, shape);
}

// No rank sends before the receiver is without memory.
void wait_for_good() {
  constexpr int n = 64;
  std::vector<int> data(n);
  MPI_Request request;
  if (rank() == 0) {
    MPI_Recv(nullptr, 0, MPI_INT, 1, tag, quiet, MPI_STATUS_IGNORE);
    MPI_Psend_init(data.data(), n, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready_range(0, n - 1, request);
  } else {
    MPI_Precv_init(data.data(), n, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Send(nullptr, 0, MPI_INT, 0, tag, quiet);
    *test_shortage() = {.for_good = true, .on = true, .at = 1};
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(quiet);
  test_shortage()->on = false;
  check(false, "the job has ended");
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  equal(size(), 2, "ranks");
  MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const bool between_nodes = argc > 1 && std::string_view(argv[1]) == "nodes";
  if (argc > 1 && !between_nodes) wait_for_good();
  // Between nodes the last is hundreds of packets.
  const std::vector<Shape> shapes = {
      {64, 8, 4, 1}, {64, 4, 8, 1}, {60, 12, 4, 3}, {between_nodes ? 1 << 12 : 1 << 18, 4, 4, 1}};
  long failures = 0;
  for (const int victim : {0, 1})
    for (const Shape& shape : shapes)
      for (const bool ranges : {false, true}) {
        const auto scenario = [&](Round& round) { exchange(round, 0, shape, ranges); };
        failures += play("partitions", victim, scenario);
        failures += play("partitions of a new thread", victim, by_new_thread(scenario));
      }
  check(failures > 20, "the library's allocations come to the test's allocator");
  MPI_Comm_free(&quiet);
}
