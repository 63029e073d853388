// The actions of threads are counted exactly, also of those that take the place of others that are gone.
#include "base/threads/team.hpp"
#include "mpi/tool/tool.hpp"

namespace {

using namespace test;

const int threads = team_size(12);
constexpr int crews = 30, messages = 5;

void ring(MPI_Comm comm, int t) {
  for (int i = 0; i < messages; ++i) {
    int in = -1;
    const int out = t * messages + i;
    MPI_Request receive;
    MPI_Irecv(&in, 1, MPI_INT, left(), t, comm, &receive);
    MPI_Send(&out, 1, MPI_INT, right(), t, comm);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    equal(in, out, "a message of the ring");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  const Tool tool;
  MPI_T_pvar_session figures;
  ok(MPI_T_pvar_session_create(&figures));
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  {
    const Counter sends(figures, "comm_sends", comm), receives(figures, "comm_receives", comm);
    long long expected = 0;
    for (int crew = 0; crew < crews; ++crew) {
      // More threads one time than the other, so that not all places are taken anew.
      const int n = crew % 2 == 0 ? threads : threads / 2;
      in_threads(n, [&](int t) { ring(comm, t); });
      expected += static_cast<long long>(n) * messages;
      equal(static_cast<long long>(sends.read()), expected, "sends");
      equal(static_cast<long long>(receives.read()), expected, "receives");
    }
  }
  MPI_Comm_free(&comm);
  ok(MPI_T_pvar_session_free(&figures));
}
