// A ring in which each of `threads` threads sends `messages` messages on a communicator of its own name, for the report to
// count (report.py knows the numbers).
//
//     exchange THREADS MESSAGES [sessions]
#include <string>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

void exchange(MPI_Comm comm, int tag, int messages) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < messages; ++i) {
    int out = i, in = -1;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, tag, comm, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, tag, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (in != i) MPI_Abort(comm, 1);
  }
}

void run(MPI_Comm comm, int threads, int messages) {
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) team.emplace_back([=] { exchange(comm, t, messages); });
  for (auto& thread : team) thread.join();
}

void in_a_session(int threads, int messages) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group group;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm ring;
  MPI_Comm_create_from_group(group, "ring", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &ring);
  MPI_Group_free(&group);
  MPI_Comm_set_name(ring, "ring");
  run(ring, threads, messages);
  MPI_Comm_free(&ring);
  MPI_Session_finalize(&session);
}

void in_the_world(int threads, int messages) {
  int provided;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm ring, freed;
  MPI_Comm_dup(MPI_COMM_WORLD, &ring);
  MPI_Comm_set_name(ring, "ring");
  run(ring, threads, messages);
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    MPI_Comm_set_name(freed, "short-lived");
    exchange(freed, 0, 1);
    MPI_Comm_free(&freed);
  }
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = std::atoi(argv[1]);
  const int messages = std::atoi(argv[2]);
  if (argc > 3 && std::string(argv[3]) == "sessions") {
    in_a_session(threads, messages);
  } else {
    in_the_world(threads, messages);
  }
}
