// Asks for the safety models that its arguments name, one communicator for each. A refused value ends the job with a sentence.
#include "mpi/check.hpp"

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  for (int i = 1; i < argc; ++i) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "heddle_model", argv[i]);
    MPI_Comm comm;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    int sum;
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    test::equal(sum, test::size(), "allreduce");
    MPI_Comm_free(&comm);
  }
}
