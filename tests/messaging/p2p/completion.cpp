// Wait and test families, persistent requests, cancel, probe, sendrecv, truncation, MPI_PROC_NULL.
#include <chrono>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

int me() { return test::rank(); }
int right() { return (test::rank() + 1) % test::size(); }
int left() { return (test::rank() + test::size() - 1) % test::size(); }

void families() {
  constexpr int n = 10;
  int out[n], in[n];
  MPI_Request requests[2 * n];
  const auto post = [&] {
    for (int i = 0; i < n; ++i) {
      out[i] = me() * 100 + i;
      in[i] = -1;
      MPI_Irecv(&in[i], 1, MPI_INT, left(), i, MPI_COMM_WORLD, &requests[i]);
      MPI_Isend(&out[i], 1, MPI_INT, right(), i, MPI_COMM_WORLD, &requests[n + i]);
    }
  };
  const auto verify = [&] {
    for (int i = 0; i < n; ++i) equal(in[i], left() * 100 + i, "data");
    for (MPI_Request r : requests) check(r == MPI_REQUEST_NULL, "completed handles are null");
  };
  MPI_Status statuses[2 * n];
  post();
  MPI_Waitall(2 * n, requests, statuses);
  for (int i = 0; i < n; ++i) equal(statuses[i].MPI_TAG, i, "status of waitall");
  verify();
  post();
  for (int left_over = 2 * n, index; left_over > 0; --left_over) {
    MPI_Waitany(2 * n, requests, &index, statuses);
    check(index != MPI_UNDEFINED && requests[index] == MPI_REQUEST_NULL, "waitany completes one");
  }
  verify();
  int index = 0, flag = 0, done = 0;
  MPI_Waitany(2 * n, requests, &index, statuses);
  equal(index, MPI_UNDEFINED, "waitany of nothing");
  post();
  for (int indices[2 * n], some; done < 2 * n; done += some) MPI_Waitsome(2 * n, requests, &some, indices, statuses);
  verify();
  post();
  while (!flag) MPI_Testall(2 * n, requests, &flag, statuses);
  verify();
  post();
  for (done = 0; done < 2 * n;) {
    MPI_Testany(2 * n, requests, &index, &flag, statuses);
    done += flag && index != MPI_UNDEFINED;
  }
  verify();
  post();
  for (int i = 0; i < 2 * n; ++i)
    for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, statuses);
  MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
  verify();
}

void persistent() {
  int out = 0, in = -1;
  MPI_Request requests[2];
  MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Ssend_init(&out, 1, MPI_INT, right(), 3, MPI_COMM_WORLD, &requests[1]);
  for (int round = 0; round < 50; ++round) {
    out = me() * 1000 + round;
    MPI_Startall(2, requests);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    equal(in, left() * 1000 + round, "round");
    equal(statuses[0].MPI_SOURCE, left(), "source");
    check(requests[0] != MPI_REQUEST_NULL, "a persistent request survives its wait");
    MPI_Wait(&requests[0], &statuses[0]);  // inactive: returns at once with an empty status
    equal(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE, "empty status");
    MPI_Barrier(MPI_COMM_WORLD);  // the wildcard must not take a faster neighbour's next round
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

void cancel_and_null() {
  int in = 5, flag;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&in, 1, MPI_INT, left(), 77, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  check(flag, "cancelled");
  MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
  equal(status.MPI_SOURCE, MPI_PROC_NULL, "source of no rank");
  int count;
  MPI_Get_count(&status, MPI_INT, &count);
  equal(count, 0, "nothing from no rank");
  equal(in, 5, "buffer untouched");
  MPI_Send(&in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

void sendrecv() {
  std::vector<int> out(30000), in(30000, -1);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = me() + static_cast<int>(i);
  MPI_Status status;
  MPI_Sendrecv(out.data(), 30000, MPI_INT, right(), 4, in.data(), 30000, MPI_INT, left(), 4, MPI_COMM_WORLD, &status);
  equal(in[29999], left() + 29999, "sendrecv");
  MPI_Sendrecv_replace(out.data(), 30000, MPI_INT, right(), 4, left(), 4, MPI_COMM_WORLD, &status);
  equal(out[123], left() + 123, "sendrecv_replace");
  MPI_Request request;
  MPI_Isendrecv_replace(out.data(), 30000, MPI_INT, right(), 4, left(), 4, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  equal(out[123], (me() + 2 * test::size() - 2) % test::size() + 123, "isendrecv_replace");
  equal(status.MPI_SOURCE, left(), "its status is the receive's");
}

void truncation() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int ints : {10, 10000, 100000}) {
    std::vector<int> out(static_cast<std::size_t>(ints), 3), in(static_cast<std::size_t>(ints) + 1, -1);
    MPI_Request request;
    MPI_Isend(out.data(), ints, MPI_INT, right(), 5, comm, &request);
    const int code = MPI_Recv(in.data(), ints / 2, MPI_INT, left(), 5, comm, MPI_STATUS_IGNORE);
    int error_class;
    MPI_Error_class(code, &error_class);
    equal(error_class, MPI_ERR_TRUNCATE, "truncation is an error");
    equal(in[static_cast<std::size_t>(ints) / 2], -1, "nothing is written behind the end");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&comm);
}

void probe() {
  if (test::size() < 2) return;
  if (me() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that the probe has gone to sleep
    std::vector<char> data(33333);
    MPI_Send(data.data(), 33333, MPI_CHAR, 1, 6, MPI_COMM_WORLD);
  } else if (me() == 1) {
    MPI_Status status;
    int count, flag;
    MPI_Iprobe(0, 60, MPI_COMM_WORLD, &flag, &status);
    check(!flag, "nothing with that tag");
    MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    equal(count, 33333, "probed size");
    std::vector<char> data(static_cast<std::size_t>(count));
    MPI_Recv(data.data(), count, MPI_CHAR, 0, status.MPI_TAG, MPI_COMM_WORLD, &status);
  }
}

}  // namespace

int main(int argc, char** argv) {
  test::Session session(&argc, &argv);
  families();
  persistent();
  cancel_and_null();
  sendrecv();
  truncation();
  probe();
  MPI_Barrier(MPI_COMM_WORLD);
}
