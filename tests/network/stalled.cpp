// A message that cannot leave at the end is an error that names its receiver: rank 1 is stopped, and rank 0 has sent it more than fits into the
// buffers between them. A session, since MPI_Finalize would wait for rank 1 before.
#include <signal.h>

#include <vector>

#include "mpi/check.hpp"

int main() {
  constexpr int bytes = 8000, messages = 7;  // eagerly, as many as there is credit for
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "stalled", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  int me;
  MPI_Comm_rank(comm, &me);
  MPI_Barrier(comm);
  if (me == 1) raise(SIGSTOP);
  const std::vector<char> out(bytes);
  for (int i = 0; i < messages; ++i) MPI_Send(out.data(), bytes, MPI_CHAR, 1, 0, comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}
