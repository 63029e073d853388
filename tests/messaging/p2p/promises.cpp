// Messages of one communicator on several VNIs, by what all members have promised (mpi_assert_no_any_tag, ..._source): a promise
// of all is in force and kept, one of some is not. The program chooses its model itself, so that there are several VNIs.
#include <cstdlib>

#include "mpi/check.hpp"

namespace {

using namespace test;

MPI_Comm comm_with(const char* hint, bool promises) {
  MPI_Info info;
  MPI_Info_create(&info);
  if (promises) MPI_Info_set(info, hint, "true");
  MPI_Comm comm;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  MPI_Info_free(&info);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

int class_of_probe(MPI_Comm comm, int source, int tag) {
  int flag, error_class;
  MPI_Error_class(MPI_Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE), &error_class);
  return error_class;
}

void in_force(const char* hint, int source, int tag, int error) {
  MPI_Comm comm = comm_with(hint, true);
  equal(class_of_probe(comm, source, tag), error, "a wildcard against a promise of all");
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, hint, "false");
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
  equal(class_of_probe(comm, source, tag), error, "after the promise was to be taken back");
  MPI_Comm_free(&comm);

  comm = comm_with(hint, rank() != 0);
  equal(class_of_probe(comm, source, tag), MPI_SUCCESS, "a wildcard where rank 0 has promised nothing");
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("HEDDLE_MODEL", "auto,vnis=4", 1);
  const Session session(&argc, &argv);
  in_force("mpi_assert_no_any_tag", 0, MPI_ANY_TAG, MPI_ERR_TAG);
  in_force("mpi_assert_no_any_source", MPI_ANY_SOURCE, 0, MPI_ERR_RANK);
}
