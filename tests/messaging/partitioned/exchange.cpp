// Partitioned communication round a ring: partitions of both sides in every ratio, short and long, several rounds,
// layouts whose elements straddle the sender's partitions; matching by the order of the init calls.
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

int me() { return test::rank(); }
int right() { return (test::rank() + 1) % test::size(); }
int left() { return (test::rank() + test::size() - 1) % test::size(); }

int value(int rank, int round, int index) { return rank * 1000003 + round * 10007 + index; }

bool arrived(MPI_Request request, int partition) {
  int flag;
  MPI_Parrived(request, partition, &flag);
  return flag != 0;
}

// `ints` in all; each side's partitions divide it. The receiver's datatype takes `grain` ints an element.
void exchange(int ints, int sends, int receives, int grain) {
  constexpr int rounds = 3;
  const int from = left();
  std::vector<int> out(static_cast<std::size_t>(ints)), in(static_cast<std::size_t>(2 * ints) + 1, -1);
  MPI_Datatype gappy, spread;  // every second int
  MPI_Type_vector(grain, 1, 2, MPI_INT, &gappy);
  MPI_Type_create_resized(gappy, 0, static_cast<MPI_Aint>(sizeof(int)) * 2 * grain, &spread);
  MPI_Type_free(&gappy);
  MPI_Type_commit(&spread);
  MPI_Request requests[2];
  MPI_Precv_init(in.data(), receives, ints / receives / grain, spread, left(), 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[0]);
  MPI_Psend_init(out.data(), sends, ints / sends, MPI_INT, right(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < ints; ++i) out[static_cast<std::size_t>(i)] = value(me(), round, i);
    MPI_Startall(2, requests);
    for (int p = sends - 1; p >= 0; --p) MPI_Pready(p, requests[1]);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    equal(statuses[0].MPI_SOURCE, left(), "source");
    equal(statuses[0].MPI_TAG, 5, "tag");
    int count;
    MPI_Get_count(&statuses[0], MPI_INT, &count);
    equal(count, ints, "count");
    for (int i = 0; i < ints; ++i) {
      equal(in[2 * static_cast<std::size_t>(i)], value(from, round, i), "data");
      equal(in[2 * static_cast<std::size_t>(i) + 1], -1, "the gap is untouched");
    }
    check(arrived(requests[0], 0), "an inactive request's partitions have arrived");
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Type_free(&spread);
}

// A partition has arrived when what overlaps it was marked, and not before.
void arrival() {
  std::vector<int> out(12, me()), in(12, -1);
  MPI_Request send, receive;
  MPI_Precv_init(in.data(), 3, 4, MPI_INT, left(), 6, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  MPI_Psend_init(out.data(), 6, 2, MPI_INT, right(), 6, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  for (int round = 0; round < 3; ++round) {
    MPI_Start(&receive);
    MPI_Start(&send);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int p = 0; p < 3; ++p) check(!arrived(receive, p), "nothing was marked");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pready_range(2, 3, send);
    MPI_Pready(0, send);
    while (!arrived(receive, 1)) continue;
    equal(in[4], left(), "its data");
    equal(in[7], left(), "its data");
    check(!arrived(receive, 0) && !arrived(receive, 2), "only half of one and none of the other were marked");
    MPI_Barrier(MPI_COMM_WORLD);
    const int rest[] = {5, 1, 4};
    MPI_Pready_list(3, rest, send);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

// Two of the same tag and an ordinary message with it; started in the other order than they were made.
void matching() {
  int out[2] = {me() * 10 + 1, me() * 10 + 2}, in[2] = {-1, -1}, plain = me() * 10 + 3, got = -1;
  MPI_Request sends[2], receives[2], ordinary;
  for (int i = 0; i < 2; ++i) {
    MPI_Psend_init(&out[i], 1, 1, MPI_INT, right(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]);
    MPI_Precv_init(&in[i], 1, 1, MPI_INT, left(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]);
  }
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ordinary);
  for (int i : {1, 0}) {
    MPI_Start(&sends[i]);
    MPI_Pready(0, sends[i]);
  }
  MPI_Startall(2, receives);
  MPI_Send(&plain, 1, MPI_INT, right(), 7, MPI_COMM_WORLD);
  MPI_Wait(&ordinary, MPI_STATUS_IGNORE);
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
  MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
  equal(in[0], left() * 10 + 1, "the first with the first");
  equal(in[1], left() * 10 + 2, "the second with the second");
  equal(got, left() * 10 + 3, "the ordinary message with the ordinary receive");
  for (int i = 0; i < 2; ++i) {
    MPI_Request_free(&sends[i]);
    MPI_Request_free(&receives[i]);
  }
}

// Freed while active: the message arrives all the same, and the communicator and the datatype may be gone by then.
void freed(int pairs) {
  const auto ints = 4 * static_cast<std::size_t>(pairs);
  std::vector<int> out(ints, me()), in(ints, -1);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Request send, receive;
  MPI_Psend_init(out.data(), 2, pairs, pair, right(), 8, comm, MPI_INFO_NULL, &send);
  MPI_Precv_init(in.data(), 2, pairs, pair, left(), 8, comm, MPI_INFO_NULL, &receive);
  MPI_Type_free(&pair);
  MPI_Start(&send);
  MPI_Pready_range(0, 1, send);
  MPI_Request_free(&send);
  MPI_Comm_free(&comm);
  MPI_Start(&receive);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Request_free(&receive);
  for (const std::size_t i : {std::size_t{0}, ints / 2 - 1, ints / 2, ints - 1}) equal(in[i], left(), "data");
  MPI_Barrier(MPI_COMM_WORLD);  // out is read until here
}

// A short partition leaves before its receiver has started: the first round of a send ends although every rank sends before it receives. A
// second round ends when the first has been received.
void ahead() {
  constexpr int n = 8;
  int out[n], in[n];
  MPI_Request send, receive;
  MPI_Psend_init(out, n, 1, MPI_INT, right(), 9, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(in, n, 1, MPI_INT, left(), 9, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  const auto begin_send = [&](int round) {
    for (int i = 0; i < n; ++i) out[i] = value(me(), round, i);
    MPI_Start(&send);
    MPI_Pready_range(0, n - 1, send);
  };
  begin_send(0);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  for (int round = 1; round <= 50; ++round) {
    begin_send(round);
    MPI_Start(&receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i) equal(in[i], value(left(), round - 1, i), "data of the round before");
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  }
  MPI_Start(&receive);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) equal(in[i], value(left(), 50, i), "data of the last round");
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

// A pair that is freed before it starts has been matched all the same, whichever of the two is initialized and freed first.
void freed_before_start(bool receive_first) {
  int out[2] = {-1, test::rank()}, in[2] = {-2, -2};
  MPI_Request sends[2], receives[2];
  const auto init_receive = [&](int i) {
    MPI_Precv_init(&in[i], 1, 1, MPI_INT, left(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]);
    if (i == 0) MPI_Request_free(&receives[0]);
  };
  const auto init_send = [&](int i) {
    MPI_Psend_init(&out[i], 1, 1, MPI_INT, right(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]);
    if (i == 0) MPI_Request_free(&sends[0]);
  };
  for (int i : {0, 1}) {
    if (receive_first) init_receive(i);
    MPI_Barrier(MPI_COMM_WORLD);
    init_send(i);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!receive_first) init_receive(i);
  }
  MPI_Start(&receives[1]);
  MPI_Start(&sends[1]);
  MPI_Pready(0, sends[1]);
  MPI_Wait(&receives[1], MPI_STATUS_IGNORE);
  MPI_Wait(&sends[1], MPI_STATUS_IGNORE);
  equal(in[1], left(), "data of the second pair");
  equal(in[0], -2, "buffer of the pair that was freed");
  MPI_Request_free(&receives[1]);
  MPI_Request_free(&sends[1]);
}

void with_proc_null() {
  int in = 4;
  MPI_Request requests[2];
  MPI_Psend_init(&in, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(&in, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < 2; ++round) {
    MPI_Startall(2, requests);
    MPI_Pready(0, requests[0]);
    while (!arrived(requests[1], 0)) continue;
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    equal(statuses[1].MPI_SOURCE, MPI_PROC_NULL, "source");
    equal(in, 4, "untouched");
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

}  // namespace

int main(int argc, char** argv) {
  test::Session session(&argc, &argv);
  for (int ints : {0, 72, 72 * 400, 72 * 1500})
    for (int sends : {1, 3, 4, 36})
      for (int receives : {1, 2, 3, 8})
        for (int grain : {1, 3}) exchange(ints, sends, receives, grain);
  arrival();
  matching();
  freed(25000);
  freed(1);
  ahead();
  freed_before_start(true);
  freed_before_start(false);
  with_proc_null();
}
