// First messages of communicators with VNIs of their own, which open what they need of the network. A call that says that something is
// missing is made again, and ends the job when that is said for the second time; a collective one does so at once, since others are in it.
#include <cstdio>

#include "mpi/check.hpp"

namespace {

template <class Call>
void tries(Call&& call, bool again = true) {
  const int error = call();
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(error, text, &length);
  std::fprintf(stderr, "rank %d: %s\n", test::rank(), text);
  const int error_class = test::class_of(error);
  test::check(error_class == MPI_ERR_OTHER || error_class == MPI_ERR_NO_MEM, "the class of the error");
  if (!again || call() != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "heddle_model", "vnis=8");
  const int to = (test::rank() + 1) % test::size(), from = (test::rank() + test::size() - 1) % test::size();
  for (int i = 0; i < 4; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int mine = test::rank(), in = -1, sum = 0;
    MPI_Request request;
    if (i % 2 == 0) {
      tries([&] { return MPI_Irecv(&in, 1, MPI_INT, from, 0, comm, &request); });
      tries([&] { return MPI_Send(&mine, 1, MPI_INT, to, 0, comm); });
      tries([&] { return MPI_Wait(&request, MPI_STATUS_IGNORE); });
      test::equal(in, from, "what has come");
    }
    if (i == 3) {
      tries([&] { return MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &request); }, false);
      tries([&] { return MPI_Wait(&request, MPI_STATUS_IGNORE); }, false);
    } else {
      tries([&] { return MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm); }, false);
    }
    test::equal(sum, test::size() * (test::size() - 1) / 2, "the sum");
    MPI_Comm_free(&comm);
  }
  MPI_Info_free(&info);
  return 0;
}
