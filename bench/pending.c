// pending: what an operation costs while N others of its kind, which have nothing to do with it, are pending or alive. One rank; a column
// for each N, nanoseconds an operation. `pending --count N` makes each operation a few times, in a function of its own, named step_NAME,
// below one named counted, for tools that count instructions, and prints a line for each.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { operations = 200, bytes = 8, first_tag = 100 };

#define STEP __attribute__((noipa)) static void

static char message[bytes], room_for_one[bytes];
static MPI_Request request;
static MPI_Comm comm;
static MPI_Datatype type;
static MPI_Info info;
static MPI_Group group;
static int key;

// ---- What is counted

STEP step_bsend(void) { MPI_Bsend(message, bytes, MPI_CHAR, 0, 1, MPI_COMM_SELF); }
STEP step_isend_and_recv(void) {
  MPI_Isend(message, bytes, MPI_CHAR, 0, 0, MPI_COMM_SELF, &request);
  MPI_Recv(room_for_one, bytes, MPI_CHAR, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
STEP step_comm_dup_and_free(void) {
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_free(&comm);
}
STEP step_type_contiguous_and_free(void) {
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_free(&type);
}
STEP step_comm_create_keyval_and_free(void) {
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_free_keyval(&key);
}
STEP step_comm_set_and_delete_attr(void) {
  MPI_Comm_set_attr(MPI_COMM_SELF, key, message);
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
}
STEP step_info_create_and_free(void) {
  MPI_Info_create(&info);
  MPI_Info_free(&info);
}
STEP step_comm_group_and_free(void) {
  MPI_Comm_group(MPI_COMM_SELF, &group);
  MPI_Group_free(&group);
}

// ---- What is pending meanwhile, and its end

static void* room;
static void begin_bsend(int n) {
  const int size = (n + operations) * (bytes + MPI_BSEND_OVERHEAD);
  room = malloc((size_t)size);
  MPI_Buffer_attach(room, size);
  for (int i = 0; i < n; ++i) step_bsend();
}
static void end_bsend(int n) {
  int size;
  for (int i = 0; i < n + operations; ++i)
    MPI_Recv(room_for_one, bytes, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&room, &size);
  free(room);
}

static MPI_Request* requests;
static void begin_receives(int n) {
  requests = malloc(sizeof *requests * (size_t)n);
  for (int i = 0; i < n; ++i) MPI_Irecv(NULL, 0, MPI_CHAR, 0, first_tag + i, MPI_COMM_SELF, &requests[i]);
}
static void end_receives(int n) {
  for (int i = 0; i < n; ++i) {
    MPI_Send(NULL, 0, MPI_CHAR, 0, first_tag + i, MPI_COMM_SELF);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
  free(requests);
}

static MPI_Comm* comms;
static void begin_comms(int n) {
  comms = malloc(sizeof *comms * (size_t)n);
  for (int i = 0; i < n; ++i) MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
}
static void end_comms(int n) {
  for (int i = 0; i < n; ++i) MPI_Comm_free(&comms[i]);
  free(comms);
}

static MPI_Datatype* types;
static void begin_types(int n) {
  types = malloc(sizeof *types * (size_t)n);
  for (int i = 0; i < n; ++i) MPI_Type_contiguous(3, MPI_INT, &types[i]);
}
static void end_types(int n) {
  for (int i = 0; i < n; ++i) MPI_Type_free(&types[i]);
  free(types);
}

static int* keys;
static void begin_keys(int n) {
  keys = malloc(sizeof *keys * (size_t)n);
  for (int i = 0; i < n; ++i) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[i], NULL);
}
static void end_keys(int n) {
  for (int i = 0; i < n; ++i) MPI_Comm_free_keyval(&keys[i]);
  free(keys);
}

static void begin_attributes(int n) {
  begin_keys(n);
  for (int i = 0; i < n; ++i) MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], message);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
}
static void end_attributes(int n) {
  for (int i = 0; i < n; ++i) MPI_Comm_delete_attr(MPI_COMM_SELF, keys[i]);
  MPI_Comm_free_keyval(&key);
  end_keys(n);
}

static MPI_Info* infos;
static void begin_infos(int n) {
  infos = malloc(sizeof *infos * (size_t)n);
  for (int i = 0; i < n; ++i) MPI_Info_create(&infos[i]);
}
static void end_infos(int n) {
  for (int i = 0; i < n; ++i) MPI_Info_free(&infos[i]);
  free(infos);
}

static MPI_Group* groups;
static void begin_groups(int n) {
  groups = malloc(sizeof *groups * (size_t)n);
  for (int i = 0; i < n; ++i) MPI_Comm_group(MPI_COMM_SELF, &groups[i]);
}
static void end_groups(int n) {
  for (int i = 0; i < n; ++i) MPI_Group_free(&groups[i]);
  free(groups);
}

static const struct {
  const char* name;
  void (*begin)(int n);
  void (*step)(void);
  void (*end)(int n);
} cases[] = {
    {"MPI_Bsend, N buffered", begin_bsend, step_bsend, end_bsend},
    {"MPI_Isend, MPI_Recv, N receives", begin_receives, step_isend_and_recv, end_receives},
    {"MPI_Comm_dup and free, N alive", begin_comms, step_comm_dup_and_free, end_comms},
    {"MPI_Type_contiguous and free, N alive", begin_types, step_type_contiguous_and_free, end_types},
    {"MPI_Comm_create_keyval and free, N alive", begin_keys, step_comm_create_keyval_and_free, end_keys},
    {"MPI_Comm_set_attr and delete, N set", begin_attributes, step_comm_set_and_delete_attr, end_attributes},
    {"MPI_Info_create and free, N alive", begin_infos, step_info_create_and_free, end_infos},
    {"MPI_Comm_group and free, N alive", begin_groups, step_comm_group_and_free, end_groups},
};
enum { case_count = sizeof cases / sizeof *cases };

// callgrind begins to count with each call.
__attribute__((noipa)) static void counted(int i) {
  for (int k = 0; k < operations; ++k) cases[i].step();
}

static double nanoseconds(int i, int n) {
  cases[i].begin(n);
  const double begin = MPI_Wtime();
  counted(i);
  const double end = MPI_Wtime();
  cases[i].end(n);
  return (end - begin) / operations * 1e9;
}

int main(int argc, char** argv) {
  static const int numbers[] = {10, 100, 1000, 10000};
  enum { columns = sizeof numbers / sizeof *numbers };
  MPI_Init(&argc, &argv);
  if (argc > 2 && strcmp(argv[1], "--count") == 0) {
    for (int i = 0; i < case_count; ++i) {
      puts(cases[i].name);
      (void)nanoseconds(i, atoi(argv[2]));
    }
  } else {
    printf("%-42s", "ns an operation, N:");
    for (int c = 0; c < columns; ++c) printf("%10d", numbers[c]);
    for (int i = 0; i < case_count; ++i) {
      printf("\n%-42s", cases[i].name);
      for (int c = 0; c < columns; ++c) printf("%10.0f", nanoseconds(i, numbers[c]));
    }
    printf("\n");
  }
  MPI_Finalize();
  return 0;
}
