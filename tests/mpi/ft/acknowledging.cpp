// Threads that wait for a message from any source, in each call that completes or inspects requests, while another thread acknowledges the
// failure that they are told of: each goes on, or is told so, and none ends without an answer.
#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "mpi/ft/life.hpp"

namespace {

using namespace test;

constexpr int value_sent = 7;
std::atomic<int> waiting{0};

// A call on a receive and a null request: MPI_SUCCESS and whether the receive is over, or that its failure is pending.
struct Outcome {
  int error;
  bool over;
};

void is_first(int index) { equal(index, 0, "the index of the receive"); }

// With an error in statuses: that of the receive.
int error_in(int error, const MPI_Status statuses[]) {
  return class_of(error) == MPI_ERR_IN_STATUS ? statuses[0].MPI_ERROR : error;
}

Outcome wait(MPI_Request r[]) { return {MPI_Wait(r, MPI_STATUS_IGNORE), true}; }
Outcome waitany(MPI_Request r[]) {
  int index = -5;
  const int error = MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
  is_first(index);
  return {error, true};
}
Outcome waitsome(MPI_Request r[]) {
  int n = -5, indices[2] = {-5, -5};
  MPI_Status statuses[2];
  const int error = MPI_Waitsome(2, r, &n, indices, statuses);
  equal(n, 1, "requests of MPI_Waitsome");
  is_first(indices[0]);
  return {error_in(error, statuses), true};
}
Outcome waitall(MPI_Request r[]) {
  MPI_Status statuses[2];
  return {error_in(MPI_Waitall(2, r, statuses), statuses), true};
}
Outcome test(MPI_Request r[]) {
  int flag = 0;
  const int error = MPI_Test(r, &flag, MPI_STATUS_IGNORE);
  return {error, flag != 0};
}
Outcome testany(MPI_Request r[]) {
  int flag = 0, index = -5;
  const int error = MPI_Testany(2, r, &index, &flag, MPI_STATUS_IGNORE);
  if (flag != 0) is_first(index);
  return {error, flag != 0};
}
Outcome testsome(MPI_Request r[]) {
  int n = -5, indices[2] = {-5, -5};
  MPI_Status statuses[2];
  const int error = MPI_Testsome(2, r, &n, indices, statuses);
  check(n == 0 || n == 1, "requests of MPI_Testsome");
  if (n == 1) is_first(indices[0]);
  return {error_in(error, statuses), n == 1};
}
Outcome testall(MPI_Request r[]) {
  int flag = 0;
  MPI_Status statuses[2];
  const int error = MPI_Testall(2, r, &flag, statuses);
  return {error_in(error, statuses), flag != 0};
}
// Those that only look say that the receive is over, and MPI_Wait ends it.
Outcome end_if(int error, bool over, MPI_Request r[]) {
  if (error == MPI_SUCCESS && over) succeeds(MPI_Wait(r, MPI_STATUS_IGNORE), "MPI_Wait of what is over");
  return {error, over};
}
Outcome get_status(MPI_Request r[]) {
  int flag = 0;
  const int error = MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE);
  return end_if(error, flag != 0, r);
}
Outcome get_status_any(MPI_Request r[]) {
  int flag = 0, index = -5;
  const int error = MPI_Request_get_status_any(2, r, &index, &flag, MPI_STATUS_IGNORE);
  if (flag != 0) is_first(index);
  return end_if(error, flag != 0, r);
}
Outcome get_status_some(MPI_Request r[]) {
  int n = -5, indices[2] = {-5, -5};
  const int error = MPI_Request_get_status_some(2, r, &n, indices, MPI_STATUSES_IGNORE);
  check(n == 0 || n == 1, "requests of MPI_Request_get_status_some");
  if (n == 1) is_first(indices[0]);
  return end_if(error, n == 1, r);
}
Outcome get_status_all(MPI_Request r[]) {
  int flag = 0;
  const int error = MPI_Request_get_status_all(2, r, &flag, MPI_STATUSES_IGNORE);
  return end_if(error, flag != 0, r);
}

using Call = Outcome (*)(MPI_Request[]);
constexpr std::array<Call, 12> calls{wait,       waitany,        waitsome,        waitall,
                                     test,       testany,        testsome,        testall,
                                     get_status, get_status_any, get_status_some, get_status_all};

void receive_by(Call call, MPI_Comm comm, bool persistent) {
  int value = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (persistent) {
    succeeds(MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, requests), "MPI_Recv_init");
    succeeds(MPI_Start(requests), "MPI_Start");
  } else {
    succeeds(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, requests), "MPI_Irecv");
  }
  ++waiting;
  for (;;) {
    const Outcome outcome = call(requests);
    if (class_of(outcome.error) == MPIX_ERR_PROC_FAILED_PENDING) {
      check(requests[0] != MPI_REQUEST_NULL, "the receive is under way still");
      continue;
    }
    succeeds(outcome.error, "the end of a receive");
    if (outcome.over) break;
  }
  equal(value, value_sent, "what has come");
  if (persistent) MPI_Request_free(requests);
}

// A blocking call ends instead, or goes on.
void receive_at_once(MPI_Comm comm) {
  int value = 0;
  ++waiting;
  const int error = MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
  if (error == MPI_SUCCESS) return equal(value, value_sent, "what has come");
  is_class(error, MPIX_ERR_PROC_FAILED, "MPI_Recv");
}
void exchange(MPI_Comm comm) {
  int value = 0;
  ++waiting;
  const int error = MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm,
                                 MPI_STATUS_IGNORE);
  if (error == MPI_SUCCESS) return equal(value, value_sent, "what has come");
  is_class(error, MPIX_ERR_PROC_FAILED, "MPI_Sendrecv");
}
// Freed while it is pending; its message comes all the same.
void receive_freed(MPI_Comm comm) {
  static int value;
  MPI_Request request;
  succeeds(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &request), "MPI_Irecv");
  ++waiting;
  is_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED_PENDING, "MPI_Wait before an acknowledgment");
  succeeds(MPI_Request_free(&request), "MPI_Request_free");
}

// A process dies while all of them wait.
void round(const std::vector<MPI_Comm>& comms, int victim, bool persistent) {
  std::vector<std::thread> threads;
  const auto start = [&](auto&& body) { threads.emplace_back([body, comm = comms[threads.size()]] { body(comm); }); };
  waiting = 0;
  for (const Call call : calls) start([=](MPI_Comm comm) { receive_by(call, comm, persistent); });
  start(receive_at_once);
  start(exchange);
  while (waiting.load() < static_cast<int>(threads.size())) std::this_thread::yield();
  const int order = 0;
  succeeds(MPI_Send(&order, 1, MPI_INT, victim, 0, MPI_COMM_WORLD), "MPI_Send");
  while (failed_of(MPI_COMM_WORLD).size() < static_cast<std::size_t>(victim)) {
    int flag;
    MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  }
  for (std::size_t i = 0; i < threads.size(); ++i) {
    int acknowledged;
    succeeds(MPIX_Comm_ack_failed(comms[i], size(), &acknowledged), "MPIX_Comm_ack_failed");
  }
  for (std::size_t i = 0; i < threads.size(); ++i)
    succeeds(MPI_Send(&value_sent, 1, MPI_INT, 0, 1, comms[i]), "MPI_Send");
  for (std::thread& thread : threads) thread.join();
  receive_freed(comms.back());
  int acknowledged;
  succeeds(MPIX_Comm_ack_failed(comms.back(), size(), &acknowledged), "MPIX_Comm_ack_failed");
  succeeds(MPI_Send(&value_sent, 1, MPI_INT, 0, 1, comms.back()), "MPI_Send");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  return_errors(MPI_COMM_WORLD);
  // One of its own for every round, since what was acknowledged is so for good.
  std::vector<std::vector<MPI_Comm>> comms(static_cast<std::size_t>(size() - 1));
  for (auto& some : comms) {
    some.resize(calls.size() + 3);
    for (MPI_Comm& comm : some) succeeds(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
  }
  // No rank dies while another makes communicators.
  int order = 0;
  for (int peer = 1; rank() == 0 && peer < size(); ++peer)
    succeeds(MPI_Recv(&order, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
  if (rank() != 0) {
    succeeds(MPI_Send(&order, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), "MPI_Send");
    MPI_Recv(&order, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    die();
  }
  for (int victim = 1; victim < size(); ++victim)
    round(comms[static_cast<std::size_t>(victim - 1)], victim, victim % 2 == 0);
  for (auto& some : comms)
    for (MPI_Comm& comm : some) MPI_Comm_free(&comm);
  return 0;
}
