// A program that ends, or does not, in the way its argument says (test_ends.py).
#include <string>

#include "mpi/ft/life.hpp"

namespace {

using namespace test;

// Those that are left meet and say so.
void go_on() {
  MPI_Comm left;
  succeeds(MPIX_Comm_shrink(MPI_COMM_WORLD, &left), "MPIX_Comm_shrink");
  int mine = 1, sum = 0;
  succeeds(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, left), "MPI_Allreduce");
  if (rank_in(left) == 0) std::printf("%d go on\n", sum);
  MPI_Comm_free(&left);
}

void unsupported() {
  int value = 0;
  MPI_Win win;
  is_class(MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_UNSUPPORTED_OPERATION,
           "MPI_Win_create");
  MPI_Request request;
  is_class(MPI_Psend_init(&value, 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
           MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Psend_init");
  MPI_Comm inter;
  is_class(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank(), 0, &inter), MPI_ERR_UNSUPPORTED_OPERATION,
           "MPI_Intercomm_create");
  is_class(MPI_Comm_spawn("nothing", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
           MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Comm_spawn");
  MPI_File file;
  is_class(MPI_File_open(MPI_COMM_WORLD, "nothing", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
           MPI_ERR_UNSUPPORTED_OPERATION, "MPI_File_open");
}

void not_asked() {
  int flag = 1;
  MPI_Comm left;
  MPI_Group group;
  is_class(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPI_ERR_UNSUPPORTED_OPERATION, "MPIX_Comm_agree");
  is_class(MPIX_Comm_shrink(MPI_COMM_WORLD, &left), MPI_ERR_UNSUPPORTED_OPERATION, "MPIX_Comm_shrink");
  is_class(MPIX_Comm_revoke(MPI_COMM_WORLD), MPI_ERR_UNSUPPORTED_OPERATION, "MPIX_Comm_revoke");
  is_class(MPIX_Comm_get_failed(MPI_COMM_WORLD, &group), MPI_ERR_UNSUPPORTED_OPERATION, "MPIX_Comm_get_failed");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  const char* const number = std::getenv("HEDDLE_RANK");
  const bool second = number != nullptr && std::string(number) == "1";
  if (how == "stays-out" && second) return 0;
  MPI_Init(&argc, &argv);
  if (how != "fatal") {
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
  }
  if (how == "dies" && second) die();
  if (how == "all-die") die();
  if (how == "exits" && second) std::_Exit(3);
  if (how == "aborts" && second) MPI_Abort(MPI_COMM_WORLD, 5);
  if (how == "orphan" && second) {
    kill(getppid(), SIGKILL);
    for (;;) pause();
  }
  if (how == "fatal" && second) die();
  if (how == "unsupported") unsupported();
  if (how == "not-asked") not_asked();
  if (how == "waits") {  // for a node that is lost
    int value = 0;
    const int error = MPI_Recv(&value, 1, MPI_INT, rank() < 2 ? 3 : 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    is_class(error, MPIX_ERR_PROC_FAILED, "MPI_Recv");
    go_on();
  }
  if (how == "aborts" || how == "fatal" || how == "orphan" || how == "stays-out" || how == "exits" || how == "dies") {
    int value = 0;
    const int error = MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    is_class(error, MPIX_ERR_PROC_FAILED, "MPI_Recv");
    go_on();
  }
  MPI_Finalize();
  return 0;
}
