/* A program for any library of the ABI: messages, a collective, a callback, an attribute, a status. Prints the library's
   version; ends with an error code if an answer is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void need(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((double*)inout)[i] += ((double*)in)[i];
}

int main(int argc, char** argv) {
  int provided, rank, size, length, count, flag;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_library_version(version, &length);
  need(size == 2 && provided >= MPI_THREAD_SERIALIZED, "size and thread level");

  /* Every other column of a matrix, large enough not to be eager, as one message. */
  enum { rows = 1000 };
  static int matrix[rows][4];
  MPI_Datatype column;
  MPI_Type_vector(rows, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  if (rank == 0) {
    for (int i = 0; i < rows; ++i) matrix[i][2] = 7 * i;
    MPI_Send(&matrix[0][2], 1, column, 1, 42, MPI_COMM_WORLD);
  } else {
    MPI_Status status;
    MPI_Recv(&matrix[0][1], 1, column, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, column, &count);
    need(status.MPI_SOURCE == 0 && status.MPI_TAG == 42 && count == 1, "status");
    for (int i = 0; i < rows; ++i) need(matrix[i][1] == 7 * i && matrix[i][2] == 0, "column");
  }
  MPI_Type_free(&column);

  MPI_Op op;
  double mine[3] = {rank, 1, 2 * rank}, all[3];
  MPI_Op_create(add, 1, &op);
  MPI_Allreduce(mine, all, 3, MPI_DOUBLE, op, MPI_COMM_WORLD);
  need(all[0] == 1 && all[1] == 2 && all[2] == 2, "reduction by callback");
  MPI_Op_free(&op);

  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
  MPI_Comm_size(half, &size);
  need(size == 1, "split");
  MPI_Comm_free(&half);
  need(half == MPI_COMM_NULL, "freed handle");

  int* tag_ub;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
  need(flag && *tag_ub >= 32767, "tag bound");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD), error_class;
  MPI_Error_class(code, &error_class);
  need(error_class == MPI_ERR_RANK, "error class");

  if (rank == 0) printf("%s\n", version);
  MPI_Finalize();
  return 0;
}
