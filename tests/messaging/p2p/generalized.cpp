// Generalized requests: their callbacks are called once each, in order, and what a callback returns is the result of the
// call that called it, in every form of wait and test.
#include <thread>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::class_of;
using test::equal;

struct Operation {
  int query_code = MPI_SUCCESS, free_code = MPI_SUCCESS, cancel_code = MPI_SUCCESS;
  int queried = 0, freed = 0, cancelled = 0;
  bool completed = false;  // what the cancel function was told
};

Operation& operation(void* state) { return *static_cast<Operation*>(state); }

MPI_Request start(Operation& state) {
  MPI_Request request;
  MPI_Grequest_start(
      [](void* op, MPI_Status* status) {
        MPI_Status_set_elements(status, MPI_INT, 7);
        MPI_Status_set_cancelled(status, 0);
        ++operation(op).queried;
        return operation(op).query_code;
      },
      [](void* op) {
        ++operation(op).freed;
        return operation(op).free_code;
      },
      [](void* op, int completed) {
        ++operation(op).cancelled;
        operation(op).completed = completed != 0;
        return operation(op).cancel_code;
      },
      &state, &request);
  return request;
}

MPI_Request start_completed(Operation& state) {
  MPI_Request request = start(state);
  MPI_Grequest_complete(request);
  return request;
}

void completed_by_another_thread() {
  Operation op;
  MPI_Request request = start(op);
  int flag;
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  check(!flag, "not complete before the user says so");
  std::thread completer([=] { MPI_Grequest_complete(request); });
  MPI_Status status;
  MPI_Wait(&request, &status);
  completer.join();
  int count;
  MPI_Get_count(&status, MPI_INT, &count);
  equal(count, 7, "the query's status");
  equal(op.queried, 1, "query");
  equal(op.freed, 1, "free");
}

// Wait and Test: the error of the last callback that had one, and the request is gone all the same.
void errors_of_wait() {
  Operation op{.query_code = MPI_ERR_BUFFER};
  MPI_Request request = start_completed(op);
  equal(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_BUFFER, "of the query function");
  check(request == MPI_REQUEST_NULL, "the request is gone");
  equal(op.freed, 1, "freed although the query failed");

  op = {.free_code = MPI_ERR_ACCESS};
  request = start_completed(op);
  equal(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_ACCESS, "of the free function");
  check(request == MPI_REQUEST_NULL, "the request is gone");

  op = {.query_code = MPI_ERR_BUFFER, .free_code = MPI_ERR_ACCESS};
  request = start_completed(op);
  int flag;
  equal(class_of(MPI_Test(&request, &flag, MPI_STATUS_IGNORE)), MPI_ERR_ACCESS, "of both: the last callback's");
  check(flag && request == MPI_REQUEST_NULL, "the request is gone");
}

// The families: MPI_ERR_IN_STATUS, and each status tells its own.
void errors_of_families() {
  Operation good, bad{.free_code = MPI_ERR_ACCESS};
  MPI_Status statuses[2];
  MPI_Request requests[2] = {start_completed(good), start_completed(bad)};
  equal(class_of(MPI_Waitall(2, requests, statuses)), MPI_ERR_IN_STATUS, "waitall");
  equal(statuses[0].MPI_ERROR, MPI_SUCCESS, "the good one");
  equal(class_of(statuses[1].MPI_ERROR), MPI_ERR_ACCESS, "the bad one");
  check(requests[1] == MPI_REQUEST_NULL, "the request is gone");

  int n, indices[2];
  requests[0] = MPI_REQUEST_NULL;
  requests[1] = start_completed(bad);
  equal(class_of(MPI_Waitsome(2, requests, &n, indices, statuses)), MPI_ERR_IN_STATUS, "waitsome");
  equal(n, 1, "completed");
  equal(indices[0], 1, "which");
  equal(class_of(statuses[0].MPI_ERROR), MPI_ERR_ACCESS, "its error");

  requests[1] = start_completed(bad);
  equal(class_of(MPI_Waitany(2, requests, &n, MPI_STATUS_IGNORE)), MPI_ERR_ACCESS, "waitany returns the error itself");
  equal(bad.freed, 3, "each freed once");
}

// MPI_Request_free and MPI_Grequest_complete: whichever comes last calls the free function and returns its error.
void errors_of_free() {
  Operation op{.free_code = MPI_ERR_ACCESS};
  MPI_Request request = start_completed(op);
  equal(class_of(MPI_Request_free(&request)), MPI_ERR_ACCESS, "free of a complete one");
  check(request == MPI_REQUEST_NULL, "the request is gone");
  equal(op.queried, 0, "no call has requested a status");

  request = start(op);
  const MPI_Request kept = request;
  equal(MPI_Request_free(&request), MPI_SUCCESS, "free of an active one");
  equal(op.freed, 1, "not before it is complete");
  equal(class_of(MPI_Grequest_complete(kept)), MPI_ERR_ACCESS, "complete of a freed one");
  equal(op.freed, 2, "freed now");
}

void cancel() {
  Operation op{.cancel_code = MPI_ERR_BUFFER};
  MPI_Request request = start(op);
  equal(class_of(MPI_Cancel(&request)), MPI_ERR_BUFFER, "of the cancel function");
  check(!op.completed, "not complete yet");
  MPI_Grequest_complete(request);
  MPI_Cancel(&request);
  check(op.completed, "complete");
  equal(op.cancelled, 2, "calls");
  equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "the error was the cancel's");
}

}  // namespace

int main(int argc, char** argv) {
  test::Session session(&argc, &argv);
  completed_by_another_thread();
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);  // where errors of no communicator go
  errors_of_wait();
  errors_of_families();
  errors_of_free();
  cancel();
}
