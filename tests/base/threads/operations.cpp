// Operations of the program are called by its own threads, also while all that wait for them sleep and the library's
// thread stands in for them. (Not so where a communication thread executes everything: submit=offload.)
#include <unistd.h>

#include <chrono>
#include <set>
#include <string>

#include "base/threads/team.hpp"

namespace {

using namespace test;

const int threads = team_size(4);
constexpr int rounds = 6;

// The kernel threads that have run something of the program.
Mutex mutex;
std::set<pid_t> of_program, of_operations;

void note(std::set<pid_t>& where) {
  mutex.lock();
  where.insert(gettid());
  mutex.unlock();
}

void add(void* in, void* inout, int* n, MPI_Datatype*) {
  note(of_operations);
  for (int i = 0; i < *n; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

bool served_by_a_thread_of_the_library() {
  const char* model = std::getenv("HEDDLE_MODEL");
  return model != nullptr && std::string(model).find("offload") != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(threads));
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  note(of_program);
  in_threads(threads, [&](int t) {
    note(of_program);
    const MPI_Comm comm = comms[static_cast<std::size_t>(t)];
    for (int round = 0; round < rounds; ++round) {
      const int n = round % 2 == 0 ? 1 : 20'000;
      std::vector<int> mine(static_cast<std::size_t>(n), rank() + t + round), sum(mine.size(), -1);
      // The others of this rank, and then the ranks themselves, are blocked by the time that the last one comes.
      if (rank() == round % size()) sleep(std::chrono::milliseconds(3 * t + 5));
      MPI_Request request;
      MPI_Iallreduce(mine.data(), sum.data(), n, MPI_INT, op, comm, &request);
      if (t % 2 == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        MPI_Barrier(comm);  // the sum goes on while its thread waits for something else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      note(of_program);
      equal(sum.back(), size() * (size() - 1) / 2 + size() * (t + round), "sum");
    }
  });
  for (const pid_t thread : of_operations)
    check(of_program.contains(thread) || served_by_a_thread_of_the_library(),
          "a thread of the program calls its operation");
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  MPI_Op_free(&op);
}
