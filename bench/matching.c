// matching: what a call costs that matches messages and receives, while N unexpected messages or posted receives, which have nothing to do
// with it, are there. Two ranks; rank 0 sends to itself, and rank 1 sends what is to come from another source. A block for each kind of
// unrelated entry, a column for each N, nanoseconds a call. `matching N...` prints columns for these N; `matching --count N` makes each call a
// few times, in functions named step_CALL below one named counted, for tools that count instructions, and prints a line for each.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A batch is short, since what it sends and posts is beside each of its calls.
enum { batch = 4, batches = 100, first_other_tag = 100, last_tag = 1 };

#define STEP __attribute__((noipa)) static void

static MPI_Comm home, other, control;
static MPI_Request sent[batch], posted[batch];
static MPI_Message taken[batch];
static int flag;

// ---- The calls that are measured; `source` and `tag` are those of a receive or a probe, which may be wildcards

STEP step_recv(int source, int tag, int i) {
  (void)i;
  MPI_Recv(NULL, 0, MPI_CHAR, source, tag, home, MPI_STATUS_IGNORE);
}
STEP step_probe(int source, int tag, int i) {
  (void)i;
  MPI_Probe(source, tag, home, MPI_STATUS_IGNORE);
}
STEP step_iprobe(int source, int tag, int i) {
  (void)i;
  MPI_Iprobe(source, tag, home, &flag, MPI_STATUS_IGNORE);
}
STEP step_mprobe(int source, int tag, int i) { MPI_Mprobe(source, tag, home, &taken[i], MPI_STATUS_IGNORE); }
STEP step_send(int source, int tag, int i) {
  (void)source, (void)tag, (void)i;
  MPI_Send(NULL, 0, MPI_CHAR, 0, 0, home);
}
STEP step_cancel(int source, int tag, int i) {
  (void)source, (void)tag;
  MPI_Cancel(&posted[i]);
}
STEP step_cancel_of_a_send(int source, int tag, int i) {
  (void)source, (void)tag;
  MPI_Cancel(&sent[i]);
}

// ---- What a batch of them needs, before and after

static void send_batch(int source, int tag) {
  (void)source, (void)tag;
  for (int i = 0; i < batch; ++i) MPI_Isend(NULL, 0, MPI_CHAR, 0, 0, home, &sent[i]);
}
static void send_batch_synchronously(int source, int tag) {
  (void)source, (void)tag;
  for (int i = 0; i < batch; ++i) MPI_Issend(NULL, 0, MPI_CHAR, 0, 0, home, &sent[i]);
}
static void post_batch(int source, int tag) {
  for (int i = 0; i < batch; ++i) MPI_Irecv(NULL, 0, MPI_CHAR, source, tag, home, &posted[i]);
}
static void end_sends(void) { MPI_Waitall(batch, sent, MPI_STATUSES_IGNORE); }
static void end_receives(void) { MPI_Waitall(batch, posted, MPI_STATUSES_IGNORE); }
static void receive_batch(void) {
  for (int i = 0; i < batch; ++i) MPI_Recv(NULL, 0, MPI_CHAR, 0, 0, home, MPI_STATUS_IGNORE);
  end_sends();
}
static void receive_taken(void) {
  for (int i = 0; i < batch; ++i) MPI_Mrecv(NULL, 0, MPI_CHAR, &taken[i], MPI_STATUS_IGNORE);
  end_sends();
}

static const struct {
  const char* name;
  void (*before)(int source, int tag);
  void (*call)(int source, int tag, int i);
  void (*after)(void);
  int every_kind;  // or only the one without wildcards
} calls[] = {
    {"MPI_Recv", send_batch, step_recv, end_sends, 1},
    {"MPI_Probe", send_batch, step_probe, receive_batch, 1},
    {"MPI_Iprobe", send_batch, step_iprobe, receive_batch, 1},
    {"MPI_Mprobe", send_batch, step_mprobe, receive_taken, 1},
    {"MPI_Send to a posted receive", post_batch, step_send, end_receives, 1},
    {"MPI_Cancel of a receive", post_batch, step_cancel, end_receives, 1},
    {"MPI_Cancel of a send", send_batch_synchronously, step_cancel_of_a_send, end_sends, 0},
};

static const struct {
  const char* name;
  int source, tag;
} kinds[] = {
    {"", 0, 0},
    {", MPI_ANY_SOURCE", MPI_ANY_SOURCE, 0},
    {", MPI_ANY_TAG", 0, MPI_ANY_TAG},
    {", both", MPI_ANY_SOURCE, MPI_ANY_TAG},
};

// ---- What is there meanwhile, and its end

static void send_elsewhere(int n) {
  for (int i = 0; i < n; ++i) MPI_Send(NULL, 0, MPI_CHAR, 0, i, other);
}
static void receive_elsewhere(int n) {
  for (int i = 0; i < n; ++i) MPI_Recv(NULL, 0, MPI_CHAR, 0, i, other, MPI_STATUS_IGNORE);
}
static void send_other_tags(int n) {
  for (int i = 0; i < n; ++i) MPI_Send(NULL, 0, MPI_CHAR, 0, first_other_tag + i, home);
}
static void receive_other_tags(int n) {
  for (int i = 0; i < n; ++i) MPI_Recv(NULL, 0, MPI_CHAR, 0, first_other_tag + i, home, MPI_STATUS_IGNORE);
}
static void send_from_rank_1(int n) {
  MPI_Send(&n, 1, MPI_INT, 1, 0, control);
  MPI_Recv(NULL, 0, MPI_CHAR, 1, last_tag, home, MPI_STATUS_IGNORE);
}
static void receive_from_rank_1(int n) {
  for (int i = 0; i < n; ++i) MPI_Recv(NULL, 0, MPI_CHAR, 1, 0, home, MPI_STATUS_IGNORE);
}

static MPI_Request* receives;
static void post(int n, int source, int tag, int distance, MPI_Comm comm) {
  receives = malloc(sizeof *receives * (size_t)n);
  for (int i = 0; i < n; ++i) MPI_Irecv(NULL, 0, MPI_CHAR, source, tag + i * distance, comm, &receives[i]);
}
static void cancel_all(int n) {
  for (int i = 0; i < n; ++i) MPI_Cancel(&receives[i]);
  MPI_Waitall(n, receives, MPI_STATUSES_IGNORE);
  free(receives);
}
static void post_elsewhere(int n) { post(n, 1, 0, 1, other); }
static void post_any_source_elsewhere(int n) { post(n, MPI_ANY_SOURCE, 0, 1, other); }
static void post_any_tag_elsewhere(int n) { post(n, 1, MPI_ANY_TAG, 0, other); }
static void post_any_elsewhere(int n) { post(n, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, other); }
static void post_other_tags(int n) { post(n, 0, first_other_tag, 1, home); }
static void post_any_source_other_tags(int n) { post(n, MPI_ANY_SOURCE, first_other_tag, 1, home); }
static void post_any_tag_other_source(int n) { post(n, 1, MPI_ANY_TAG, 0, home); }

static const struct {
  const char* name;
  void (*begin)(int n);
  void (*end)(int n);
  int any_source, any_tag;  // whether such receives and probes have nothing to do with it, either
} entries[] = {
    {"unexpected messages of another communicator", send_elsewhere, receive_elsewhere, 1, 1},
    {"unexpected messages with other tags", send_other_tags, receive_other_tags, 1, 0},
    {"unexpected messages from another source", send_from_rank_1, receive_from_rank_1, 0, 1},
    {"receives of another communicator", post_elsewhere, cancel_all, 1, 1},
    {"receives with MPI_ANY_SOURCE of another communicator", post_any_source_elsewhere, cancel_all, 1, 1},
    {"receives with MPI_ANY_TAG of another communicator", post_any_tag_elsewhere, cancel_all, 1, 1},
    {"receives with both of another communicator", post_any_elsewhere, cancel_all, 1, 1},
    {"receives with other tags", post_other_tags, cancel_all, 1, 1},
    {"receives with MPI_ANY_SOURCE and other tags", post_any_source_other_tags, cancel_all, 1, 1},
    {"receives with MPI_ANY_TAG from another source", post_any_tag_other_source, cancel_all, 1, 1},
};

enum {
  call_count = sizeof calls / sizeof *calls,
  kind_count = sizeof kinds / sizeof *kinds,
  entry_count = sizeof entries / sizeof *entries,
  most_columns = 8
};

static int is_measured(int e, int c, int k) {
  return (k == 0 || calls[c].every_kind) && (kinds[k].source >= 0 || entries[e].any_source) &&
         (kinds[k].tag >= 0 || entries[e].any_tag);
}

static void run(int c, int k) {
  for (int i = 0; i < batch; ++i) calls[c].call(kinds[k].source, kinds[k].tag, i);
}
// callgrind begins to count with each call.
__attribute__((noipa)) static void counted(int c, int k) { run(c, k); }

static double one_batch(int c, int k, void (*run_batch)(int c, int k)) {
  calls[c].before(kinds[k].source, kinds[k].tag);
  const double begin = MPI_Wtime();
  run_batch(c, k);
  const double end = MPI_Wtime();
  calls[c].after();
  return (end - begin) / batch * 1e9;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}
static double nanoseconds(int c, int k) {
  double times[batches];
  for (int i = 0; i < batches; ++i) times[i] = one_batch(c, k, run);
  qsort(times, batches, sizeof *times, compare);
  return times[batches / 2];
}

static void print_block(int e, const int* numbers, int columns) {
  static double times[call_count][kind_count][most_columns];
  for (int column = 0; column < columns; ++column) {
    entries[e].begin(numbers[column]);
    for (int c = 0; c < call_count; ++c)
      for (int k = 0; k < kind_count; ++k)
        if (is_measured(e, c, k)) times[c][k][column] = nanoseconds(c, k);
    entries[e].end(numbers[column]);
  }
  printf("\nns a call, beside N %s\n%-46s", entries[e].name, "N:");
  for (int column = 0; column < columns; ++column) printf("%9d", numbers[column]);
  for (int c = 0; c < call_count; ++c) {
    for (int k = 0; k < kind_count; ++k) {
      if (!is_measured(e, c, k)) continue;
      char name[80];
      snprintf(name, sizeof name, "%s%s", calls[c].name, kinds[k].name);
      printf("\n%-46s", name);
      for (int column = 0; column < columns; ++column) printf("%9.0f", times[c][k][column]);
    }
  }
  printf("\n");
}

static void count(int n) {
  for (int e = 0; e < entry_count; ++e) {
    entries[e].begin(n);
    for (int c = 0; c < call_count; ++c) {
      for (int k = 0; k < kind_count; ++k) {
        if (!is_measured(e, c, k)) continue;
        printf("%s%s, beside %s\n", calls[c].name, kinds[k].name, entries[e].name);
        (void)one_batch(c, k, run);  // what is done once beside so many entries: an index, larger tables
        (void)one_batch(c, k, counted);
      }
    }
    entries[e].end(n);
  }
}

static void serve(void) {
  int n;
  for (;;) {
    MPI_Recv(&n, 1, MPI_INT, 0, 0, control, MPI_STATUS_IGNORE);
    if (n < 0) return;
    for (int i = 0; i < n; ++i) MPI_Send(NULL, 0, MPI_CHAR, 0, 0, home);
    MPI_Send(NULL, 0, MPI_CHAR, 0, last_tag, home);
  }
}

int main(int argc, char** argv) {
  int numbers[most_columns] = {0, 10, 100, 1000, 10000};
  int columns = 5, rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    fprintf(stderr, "matching: 2 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &home);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  if (rank == 1) {
    serve();
  } else {
    if (argc > 2 && strcmp(argv[1], "--count") == 0) {
      count(atoi(argv[2]));
    } else {
      if (argc > 1) columns = 0;
      for (int i = 1; i < argc && columns < most_columns; ++i) numbers[columns++] = atoi(argv[i]);
      for (int e = 0; e < entry_count; ++e) print_block(e, numbers, columns);
    }
    const int stop = -1;
    MPI_Send(&stop, 1, MPI_INT, 1, 0, control);
  }
  MPI_Comm_free(&home);
  MPI_Comm_free(&other);
  MPI_Comm_free(&control);
  MPI_Finalize();
  return 0;
}
