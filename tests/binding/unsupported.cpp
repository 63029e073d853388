// Functions without an implementation end in the error handler of their object.
//
//   unsupported                               handlers of the program's; MPI_ERRORS_RETURN
//   unsupported comm|port|initial             the handler is fatal: the test reads what is said
#include <string>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::class_of;
using test::equal;

int spawn(MPI_Comm comm) {
  MPI_Comm children;
  return MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, comm, &children, MPI_ERRCODES_IGNORE);
}

MPI_Comm noted_comm = MPI_COMM_NULL;
int noted_code = MPI_SUCCESS;
void note_comm(MPI_Comm* comm, int* code, ...) {
  noted_comm = *comm;
  noted_code = *code;
}

void handlers() {
  MPI_Errhandler for_comms;
  MPI_Comm_create_errhandler(note_comm, &for_comms);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, for_comms);
  equal(class_of(spawn(comm)), MPI_ERR_UNSUPPORTED_OPERATION, "Comm_spawn");
  check(noted_comm == comm, "the communicator's handler");
  equal(class_of(noted_code), MPI_ERR_UNSUPPORTED_OPERATION, "its code");
  MPI_Comm_free(&comm);

  // What is about no object belongs to MPI_COMM_SELF.
  MPI_Comm_set_errhandler(MPI_COMM_SELF, for_comms);
  char port[MPI_MAX_PORT_NAME];
  equal(class_of(MPI_Open_port(MPI_INFO_NULL, port)), MPI_ERR_UNSUPPORTED_OPERATION, "Open_port");
  check(noted_comm == MPI_COMM_SELF, "the handler of MPI_COMM_SELF");
  MPI_Errhandler_free(&for_comms);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  char port[MPI_MAX_PORT_NAME];
  if (what == "initial") MPI_Open_port(MPI_INFO_NULL, port);
  const test::Session session(&argc, &argv);
  if (what.empty()) {
    handlers();
    return 0;
  }
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "loom");
  if (what == "comm") spawn(comm);
  if (what == "port") MPI_Open_port(MPI_INFO_NULL, port);
  std::printf("the program goes on\n");
}
