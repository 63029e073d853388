// A job that spawns processes and ends in the way that its first argument names; test_ends.py looks at what mpiexec says.
#include <unistd.h>

#include <csignal>

#include "mpi/dpm/children.hpp"

namespace {

using namespace test;

[[noreturn]] void wait_for_ever() {
  int never;
  MPI_Recv(&never, 1, MPI_INT, 0, 99, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  std::abort();
}

// The last of the spawned processes does it.
void be_child(const std::string& end) {
  MPI_Comm comm = parent();
  MPI_Barrier(comm);
  if (end == "many" || end == "says") {
    if (end == "says") std::printf("child %d of %d\n", rank(), size());
    MPI_Comm_disconnect(&comm);
    return;
  }
  if (rank() == size() - 1) {
    if (end == "killed") std::raise(SIGKILL);
    if (end == "aborts") MPI_Abort(MPI_COMM_WORLD, 7);
    if (end == "exits") _exit(3);
  }
  wait_for_ever();
}

MPI_Comm begin(const char* program, const std::string& end, int n) {
  MPI_Comm children = spawn(program, {end}, n, MPI_COMM_WORLD);
  MPI_Barrier(children);
  return children;
}

void be_first(const char* program, const std::string& end) {
  if (end == "many") {
    for (int i = 0; i < 40; ++i) {
      MPI_Comm children = begin(program, end, 1);
      MPI_Comm_disconnect(&children);
    }
  } else if (end == "no-mpi") {
    MPI_Comm children;
    MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    wait_for_ever();
  } else if (end == "missing") {
    MPI_Comm children;
    MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
  } else if (end == "parent-killed") {
    begin(program, end, 2);
    if (rank() == 0) std::raise(SIGKILL);
    wait_for_ever();
  } else if (end == "says") {
    MPI_Comm children = begin(program, end, 2);
    MPI_Comm_disconnect(&children);
  } else {
    begin(program, end, 2);
    wait_for_ever();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  const std::string as = part(argc, argv);
  if (!as.empty()) {
    be_child(as);
  } else {
    be_first(argv[0], argc > 1 ? argv[1] : "");
  }
}
