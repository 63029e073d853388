/* Uses of C's side of Fortran with nothing but <mpi.h>; compiles as C and as C++. */
#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A library that takes Fortran's communicator, as FFTW does. */
void* plan_many_f03(int rank, const ptrdiff_t* n, MPI_Fint f_comm);
void* plan_many_f03(int rank, const ptrdiff_t* n, MPI_Fint f_comm) {
  MPI_Comm comm = MPI_Comm_f2c(f_comm);
  int size = 0;
  MPI_Comm_size(comm, &size);
  return rank > size ? (void*)n : NULL;
}

/* A tool that intercepts Fortran's procedures, as mpiP and TAMPI do. */
void mpi_waitall_(MPI_Fint* count, MPI_Fint requests[], MPI_Fint* statuses, MPI_Fint* ierror);
void mpi_waitall_(MPI_Fint* count, MPI_Fint requests[], MPI_Fint* statuses, MPI_Fint* ierror) {
  MPI_Status all[4];
  MPI_Request c_requests[4];
  const int ignored = statuses == MPI_F_STATUSES_IGNORE;
  for (int i = 0; i < *count && i < 4; ++i) c_requests[i] = MPI_Request_f2c(requests[i]);
  *ierror = PMPI_Waitall(*count, c_requests, ignored ? MPI_STATUSES_IGNORE : all);
  for (int i = 0; i < *count && i < 4; ++i) {
    requests[i] = MPI_Request_c2f(c_requests[i]);
    if (!ignored) MPI_Status_c2f(&all[i], statuses + i * (int)(sizeof(MPI_Status) / sizeof(MPI_Fint)));
  }
}

/* Sizes at compile time, and sentinels that are compared and passed on, as TAMPI has them. */
typedef MPI_Fint status_of_fortran[sizeof(MPI_Status) / sizeof(MPI_Fint)];
typedef char same_size[sizeof(MPI_F08_status) == sizeof(status_of_fortran) ? 1 : -1];
MPI_Fint* status_or_ignore(int wanted, MPI_Fint* status);
MPI_Fint* status_or_ignore(int wanted, MPI_Fint* status) { return wanted ? status : MPI_F_STATUS_IGNORE; }
int is_f08_ignore(const MPI_F08_status* status);
int is_f08_ignore(const MPI_F08_status* status) {
  return status == MPI_F08_STATUS_IGNORE || status == MPI_F08_STATUSES_IGNORE;
}

#ifdef __cplusplus
}
#endif

int main(void) {
  /* Nothing of this program is Fortran, so there is nothing to ignore. */
  return MPI_F_STATUS_IGNORE == NULL && MPI_F08_STATUSES_IGNORE == NULL && !status_or_ignore(0, NULL) ? 0 : 1;
}
