// memory: the private memory of a rank that has initialized MPI and not communicated, in MiB; the largest of
// all ranks.
//
// Private means pages that only this process maps (USS: Private_Clean + Private_Dirty of
// /proc/self/smaps_rollup), so shared libraries and shared segments don't count. All ranks must be alive
// while each is measured, or what they share would look private; since they may not talk MPI they meet in a
// file (`--file`), mapped by all and sized by the first.
//
// --mode job: what the job's ranks take of the machine, divided by their number: the proportional set sizes (Pss: pages that
// several map count once in all) of their processes. Ranks may be processes or threads of one. Launchers don't count.
//
// --mode peers: how much more private memory rank 1 has, which talks to rank 2 and to the last, than rank 0, which does not communicate; in KiB.
// With HEDDLE_NODES=2 one of the two is of another node. Four ranks at least, which are processes. Fails if it is more than `--most`.
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RANKS = 4096 };

typedef struct {
  atomic_int ready, measured;
  long before_kib[MAX_RANKS], after_kib[MAX_RANKS];
  long process[MAX_RANKS];
} shared_page;

typedef enum { OF_RANK, OF_JOB, OF_PEERS } mode;
static const char* const mode_names[] = {"rank", "job", "peers"};

enum { ROUNDS = 100, LONG = 20 * 1024 };  // by rendezvous wherever the peer is
static char buffer[LONG];

// The private memory of this process, in KiB; -1 if it can't be read.
static long memory_of(bool job) {
  FILE* f = fopen("/proc/self/smaps_rollup", "r");
  if (!f) return -1;
  char line[256];
  long sum = 0, kib;
  while (fgets(line, sizeof line, f))
    if (job ? sscanf(line, "Pss: %ld", &kib) == 1
            : sscanf(line, "Private_Clean: %ld", &kib) == 1 || sscanf(line, "Private_Dirty: %ld", &kib) == 1)
      sum += kib;
  fclose(f);
  return sum;
}

// The process that we are in: ranks that are threads of it may have process numbers of their own from getpid.
static long own_process(void) {
  char number[32] = "";
  return readlink("/proc/self", number, sizeof number - 1) > 0 ? atol(number) : 0;
}

// All processes together, each once, divided by the ranks; MiB.
static double share_of_job(const shared_page* m, int ranks) {
  long kib = 0;
  for (int i = 0; i < ranks; ++i) {
    int first = 0;
    while (m->process[first] != m->process[i]) ++first;
    if (first == i) kib += m->after_kib[i];
  }
  return (double)kib / 1024 / ranks;
}

static void report_peers(const shared_page* m, int ranks) {
  const long more = m->after_kib[1] - m->after_kib[0];
  printf(
      "{\"bench\":\"memory\",\"ranks\":%d,\"threads\":1,\"checked\":%d,\"silent_kib\":%ld,\"talking_kib\":%ld,"
      "\"metric\":\"private memory for two peers\",\"unit\":\"KiB\",\"value\":%ld,\"samples\":[%ld]}\n",
      ranks, ranks, m->after_kib[0], m->after_kib[1], more, more);
  fflush(stdout);
}

// A thousand that look every 2 ms leave no core to the one that they wait for.
static void await(atomic_int* count, int all) {
  while (atomic_load(count) < all) nanosleep(&(struct timespec){0, all > 100 ? 100000000 : 2000000}, NULL);
}

static bool is_mode(const char* name, mode* found) {
  for (mode m = OF_RANK; m <= OF_PEERS; ++m) {
    if (strcmp(name, mode_names[m])) continue;
    *found = m;
    return true;
  }
  return false;
}

// Short and long messages to and fro.
static void talk(int peer) {
  for (int i = 0; i < ROUNDS; ++i) {
    const int bytes = i % 10 ? 8 : LONG;
    if (peer > 1) MPI_Send(buffer, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (peer == 1) MPI_Send(buffer, bytes, MPI_CHAR, peer, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  const char* path = NULL;
  mode of = OF_RANK;
  long most = LONG_MAX;
  bool known = true;
  for (int i = 1; i < argc; i += 2) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--file"))
      path = value;
    else if (!strcmp(argv[i], "--mode") && is_mode(value, &of))
      continue;
    else if (!strcmp(argv[i], "--most"))
      most = atol(value);
    else
      known = false;
  }
  if (!path || !known) {
    fprintf(stderr,
            "memory: --file PATH (an empty file that all ranks can write) [--mode rank|job|peers] [--most KIB]\n");
    return 2;
  }
  int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(shared_page))) return perror(path), 2;
  shared_page* m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (m == MAP_FAILED) return perror("memory: mmap"), 2;
  close(fd);

  const bool job = of == OF_JOB;
  memset(buffer, 1, sizeof buffer);  // has its pages, whether or not it is used
  long before = memory_of(job);
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (of == OF_PEERS) {
    if (ranks < 4) {
      if (!rank) fprintf(stderr, "memory: --mode peers is for 4 ranks and more\n");
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 1) {
      talk(2);
      talk(ranks - 1);
    } else if (rank == 2 || rank == ranks - 1) {
      talk(1);
    }
  }
  atomic_fetch_add(&m->ready, 1);
  await(&m->ready, ranks);
  m->before_kib[rank] = before;
  m->after_kib[rank] = memory_of(job);
  m->process[rank] = own_process();
  atomic_fetch_add(&m->measured, 1);
  await(&m->measured, ranks);
  if (!rank) {
    long least = m->after_kib[0], largest = least, before_largest = m->before_kib[0];
    for (int i = 1; i < ranks; ++i) {
      if (m->after_kib[i] < least) least = m->after_kib[i];
      if (m->after_kib[i] > largest) largest = m->after_kib[i];
      if (m->before_kib[i] > before_largest) before_largest = m->before_kib[i];
    }
    if (least <= 0) {
      fprintf(stderr, "memory: /proc/self/smaps_rollup can't be read\n");
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (of == OF_PEERS) {
      report_peers(m, ranks);
      const bool enough = m->after_kib[1] - m->after_kib[0] <= most;
      MPI_Finalize();
      return enough ? 0 : 1;
    }
    const double value = job ? share_of_job(m, ranks) : (double)largest / 1024;
    printf(
        "{\"bench\":\"memory\",\"ranks\":%d,\"threads\":1,\"checked\":%d,\"before_init_mib\":%.3f,\"least_"
        "mib\":%.3f,"
        "\"metric\":\"%smemory\",\"unit\":\"MiB\",\"value\":%.3f,\"samples\":[%.3f]}\n",
        ranks, ranks, (double)before_largest / 1024, (double)least / 1024, job ? "" : "private ", value, value);
    fflush(stdout);
  }
  MPI_Finalize();
}
