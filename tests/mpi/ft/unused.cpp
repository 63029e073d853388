// Communicators that some members never use, and that others revoke: what is shared about them is given back, however many there are,
// in whatever order the members free them, and also when the last that could do so dies.
#include "mpi/ft/life.hpp"

namespace {

using namespace test;

// One member revokes; the others have not used it, and may have freed it before.
void revoke_and_free(MPI_Comm parent, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    MPI_Comm copy;
    succeeds(MPI_Comm_dup(parent, &copy), "MPI_Comm_dup");
    const bool revokes = rank_in(parent) == i % size_of(parent);
    const bool others_first = i % 2 == 0;
    if (others_first && !revokes) MPI_Comm_free(&copy);
    if (others_first) succeeds(MPI_Barrier(parent), "MPI_Barrier");
    if (revokes) succeeds(MPIX_Comm_revoke(copy), "MPIX_Comm_revoke");
    if (copy != MPI_COMM_NULL) MPI_Comm_free(&copy);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1100;
  return_errors(MPI_COMM_WORLD);
  revoke_and_free(MPI_COMM_WORLD, rounds);

  // More than half of what there may be, which one member has not freed when it dies.
  const int last = size() - 1;
  constexpr int kept = 600;
  std::vector<MPI_Comm> copies(kept);
  for (MPI_Comm& copy : copies) succeeds(MPI_Comm_dup(MPI_COMM_WORLD, &copy), "MPI_Comm_dup");
  succeeds(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  for (MPI_Comm& copy : copies) {
    if (rank() == 0) succeeds(MPIX_Comm_revoke(copy), "MPIX_Comm_revoke");
    if (rank() != last) MPI_Comm_free(&copy);
  }
  // Not before all others have left the barrier, which would fail.
  if (rank() == last) {
    for (int other = 0; other < last; ++other)
      succeeds(MPI_Recv(nullptr, 0, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
    die();
  }
  (void)MPI_Send(nullptr, 0, MPI_INT, last, 0, MPI_COMM_WORLD);
  MPI_Comm left;
  succeeds(MPIX_Comm_shrink(MPI_COMM_WORLD, &left), "MPIX_Comm_shrink");
  revoke_and_free(left, kept);
  MPI_Comm_free(&left);
  MPI_Finalize();
  return 0;
}
