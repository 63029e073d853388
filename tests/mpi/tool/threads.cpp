// Tools in many threads, while the program communicates: each with a session of its own, handles that come and go and
// counting that goes on and off under the threads' feet. Concurrent counts must still be right.
#include <thread>
#include <vector>

#include "mpi/tool/tool.hpp"

namespace {

using test::code;
using test::Counter;
using test::holds;
using test::ok;

constexpr int rounds = 300;

void communicate(MPI_Comm comm, int tag) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < rounds; ++i) {
    int out = i, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, tag, &in, 1, MPI_INT, (rank + size - 1) % size, tag, comm,
                 MPI_STATUS_IGNORE);
    code(in, i, "a message");
  }
}

void watch() {
  MPI_Comm comm = MPI_COMM_WORLD;
  for (int i = 0; i < rounds / 10; ++i) {
    const test::Tool tool;
    MPI_T_pvar_session session;
    ok(MPI_T_pvar_session_create(&session));
    {
      Counter polls(session, "vni_polls"), sends(session, "comm_sends", comm);
      const auto before = sends.read();
      holds(sends.read() >= before, "a counter does not go backwards");
      ok(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
      int n;
      ok(MPI_T_cvar_get_num(&n));
    }
    MPI_T_pvar_handle left_in_the_session;
    int count;
    ok(MPI_T_pvar_handle_alloc(session, test::pvar("comm_vni_combined_max", MPI_T_PVAR_CLASS_HIGHWATERMARK), &comm,
                               &left_in_the_session, &count));
    ok(MPI_T_pvar_start(session, left_in_the_session));
    ok(MPI_T_pvar_session_free(&session));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Tool tool;
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_T_pvar_session session;
  ok(MPI_T_pvar_session_create(&session));
  {
    Counter sends(session, "comm_sends", comm);
    std::vector<std::thread> team;
    for (int t = 0; t < 3; ++t) team.emplace_back(communicate, comm, t);
    for (int t = 0; t < 3; ++t) team.emplace_back(watch);
    for (auto& thread : team) thread.join();
    code(static_cast<int>(sends.read()), 3 * rounds, "sends of all threads");
  }
  ok(MPI_T_pvar_session_free(&session));
  MPI_Comm_free(&comm);
  MPI_Finalize();
}
