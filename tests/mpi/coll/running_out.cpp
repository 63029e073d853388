// Memory runs out in the middle of a collective operation, and stays away. A nonblocking operation ends with MPI_ERR_NO_MEM after a
// bounded time, as a blocking one does. Where one rank alone runs out the job ends with a sentence of that rank if errors are
// fatal, whatever the others wait for.
//
//   running_out                the last rank runs out in broadcasts that it receives, and errors are returned
//   running_out OPERATION N    the N-th allocation of the last rank in the operation fails and all after it, and errors are fatal
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "messaging/p2p/failing_malloc.hpp"
#include "mpi/check.hpp"

using namespace test;

namespace {

constexpr int few = 64;        // messages that need no answer
constexpr int many = 1 << 20;  // more than goes through shared memory
std::vector<int> ones(many, 1), sum(many);

// Calls while all allocations from the `at`-th on fail.
template <class Call>
int in_shortage(long at, Call&& call) {
  Shortage& shortage = *test_shortage();
  shortage = {.for_good = true, .on = true, .at = at};
  const int error = call();
  shortage.on = false;
  return error;
}

int iallreduce(MPI_Comm comm, MPI_Request* request) {
  return MPI_Iallreduce(ones.data(), sum.data(), few, MPI_INT, MPI_SUM, comm, request);
}

// By MPI_Test, which needs no memory itself.
int complete(MPI_Request* request) {
  int error = MPI_SUCCESS;
  for (int flag = 0; !flag && error == MPI_SUCCESS;) error = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  return error;
}

int ibcast(MPI_Comm comm, MPI_Request* request) {
  std::fill(sum.begin(), sum.begin() + few, rank() == 0 ? 7 : 0);
  return MPI_Ibcast(sum.data(), few, MPI_INT, 0, comm, request);
}

// Holds what earlier operations have left for later ones: those have to make their own.
struct Held {
  std::vector<MPI_Request> requests{20};
  Held() {
    for (MPI_Request& request : requests) MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    for (MPI_Request& request : requests) MPI_Request_free(&request);
  }
};

// Broadcasts that the last rank has memory for one allocation more for than for the one before. The root needs no answer.
void outlast() {
  constexpr int operations = 12;
  std::vector<MPI_Comm> comms(operations);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);  // with MPI_ERRORS_RETURN
  MPI_Barrier(MPI_COMM_WORLD);                                       // its memory is there
  const Held held;
  int begun_in_vain = 0, succeeded = 0;
  for (int i = 0; i < operations; ++i) {
    MPI_Comm comm = comms[static_cast<std::size_t>(i)];
    MPI_Request request = MPI_REQUEST_NULL;
    int begun = MPI_SUCCESS;
    const auto perform = [&] {
      begun = ibcast(comm, &request);
      return begun == MPI_SUCCESS ? complete(&request) : begun;
    };
    const bool alone = rank() == size() - 1;
    const int error = alone ? in_shortage(i + 1, perform) : perform();
    check(request == MPI_REQUEST_NULL, "no request is left");
    check(alone || error == MPI_SUCCESS, "the root has all the memory that it wants");
    if (error != MPI_SUCCESS) equal(class_of(error), MPI_ERR_NO_MEM, "the end of the operation");
    if (error == MPI_SUCCESS) equal(sum[0] + sum[few - 1], 14, "what was broadcast");
    begun_in_vain += error != MPI_SUCCESS && begun == MPI_SUCCESS;
    succeeded += error == MPI_SUCCESS;
    // Arrived messages are taken while there is memory: the next shortage would find it in the way, and end the job.
    MPI_Barrier(MPI_COMM_WORLD);
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  if (rank() == size() - 1) check(begun_in_vain > 0, "an operation has found no memory after it had begun");
  check(succeeded > 0, "an operation has found enough");
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Request request = MPI_REQUEST_NULL;
  equal(iallreduce(comm, &request), MPI_SUCCESS, "an operation after the shortage");
  equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "its end");
  equal(sum[0] + sum[few - 1], 2 * size(), "its sum");
  MPI_Comm_free(&comm);
}

int perform(std::string_view operation, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (operation == "Barrier") return MPI_Barrier(comm);
  if (operation == "Allreduce") return MPI_Allreduce(ones.data(), sum.data(), 1, MPI_INT, MPI_SUM, comm);
  if (operation == "Allreduce-long") return MPI_Allreduce(ones.data(), sum.data(), many, MPI_INT, MPI_SUM, comm);
  if (operation == "Bcast-root") return MPI_Bcast(ones.data(), few, MPI_INT, size() - 1, comm);
  if (operation == "Bcast") return MPI_Bcast(ones.data(), few, MPI_INT, 0, comm);
  if (operation == "Comm_dup") return MPI_Comm_dup(comm, &comm);
  if (operation == "Iallreduce") {
    const int error = iallreduce(comm, &request);
    return error == MPI_SUCCESS ? complete(&request) : error;
  }
  check(false, "a known operation");
  return MPI_ERR_INTERN;
}

// Broadcasts from the first rank, until one is begun that the last has no memory to receive. That it fails is fatal.
void begin_in_vain(MPI_Comm comm) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const Held held;
  for (int i = 0; i < 12; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank() != size() - 1) {
      ibcast(comm, &request);
      complete(&request);
      continue;
    }
    const auto perform = [&] {
      if (ibcast(comm, &request) != MPI_SUCCESS) return;
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
      complete(&request);
    };
    (void)in_shortage(i + 1, [&] { return perform(), MPI_SUCCESS; });
  }
}

// The others wait for what does not come, until the job ends.
void run_out_alone(std::string_view operation, long at) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "the crew");
  if (operation == "Ibcast") {
    begin_in_vain(comm);
    MPI_Barrier(MPI_COMM_WORLD);
    check(false, "the job has ended");
  }
  const bool alone = rank() == size() - 1;
  const int error = alone ? in_shortage(at, [&] { return perform(operation, comm); }) : perform(operation, comm);
  equal(error, MPI_SUCCESS, "what a call returns where errors are fatal");
  MPI_Barrier(MPI_COMM_WORLD);
  check(false, "the job has ended");
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  if (argc > 2) {
    run_out_alone(argv[1], std::atol(argv[2]));
    return 0;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  outlast();
}
