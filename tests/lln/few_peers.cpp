// A connection to another node is opened by the first message to it, and by nothing else: a rank that talks to two of many has two.
#include "tool/tool.hpp"

int main(int argc, char** argv) {
  const test::Tool tool;
  MPI_T_pvar_session session;
  test::ok(MPI_T_pvar_session_create(&session), "MPI_T_pvar_session_create");
  MPI_Init(&argc, &argv);
  int me, n;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  {
    const test::Counter opened(session, "vni_connections_opened");
    for (const int distance : {1, n / 2}) {
      const int to = (me + distance) % n, from = (me + n - distance) % n;
      for (int i = 0; i < 10; ++i) {
        int got = -1;
        MPI_Sendrecv(&me, 1, MPI_INT, to, i, &got, 1, MPI_INT, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        test::code(got, from, "whose message came");
      }
    }
    test::code(static_cast<int>(opened.read()), 2, "connections of a rank that sends to two");
  }
  MPI_Finalize();
  test::ok(MPI_T_pvar_session_free(&session), "MPI_T_pvar_session_free");
}
