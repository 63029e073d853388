// memory: the private memory of a rank that has initialized MPI and talked to nobody, in MiB; the largest of
// all ranks.
//
// Private means pages that only this process maps (USS: Private_Clean + Private_Dirty of
// /proc/self/smaps_rollup), so shared libraries and shared segments don't count. All ranks must be alive
// while each is measured, or what they share would look private; since they may not talk MPI they meet in a
// file (`--file`), mapped by all and sized by the first.
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
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
} meeting;

static long private_kib(void) {
  FILE* f = fopen("/proc/self/smaps_rollup", "r");
  if (!f) return -1;
  char line[256];
  long sum = 0, kib;
  while (fgets(line, sizeof line, f))
    if (sscanf(line, "Private_Clean: %ld", &kib) == 1 || sscanf(line, "Private_Dirty: %ld", &kib) == 1) sum += kib;
  fclose(f);
  return sum;
}

static void await(atomic_int* count, int all) {
  while (atomic_load(count) < all) nanosleep(&(struct timespec){0, 2000000}, NULL);
}

int main(int argc, char** argv) {
  if (argc != 3 || strcmp(argv[1], "--file")) {
    fprintf(stderr, "memory: --file PATH (an empty file that all ranks can write)\n");
    return 2;
  }
  int fd = open(argv[2], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(meeting))) return perror(argv[2]), 2;
  meeting* m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (m == MAP_FAILED) return perror("memory: mmap"), 2;
  close(fd);

  long before = private_kib();
  int provided, rank, ranks;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  atomic_fetch_add(&m->ready, 1);
  await(&m->ready, ranks);
  m->before_kib[rank] = before;
  m->after_kib[rank] = private_kib();
  atomic_fetch_add(&m->measured, 1);
  await(&m->measured, ranks);
  if (!rank) {
    long least = m->after_kib[0], most = least, before_most = m->before_kib[0];
    for (int i = 1; i < ranks; ++i) {
      if (m->after_kib[i] < least) least = m->after_kib[i];
      if (m->after_kib[i] > most) most = m->after_kib[i];
      if (m->before_kib[i] > before_most) before_most = m->before_kib[i];
    }
    if (least <= 0) {
      fprintf(stderr, "memory: /proc/self/smaps_rollup can't be read\n");
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    printf(
        "{\"bench\":\"memory\",\"ranks\":%d,\"threads\":1,\"checked\":%d,\"before_init_mib\":%.3f,\"least_"
        "mib\":%.3f,"
        "\"metric\":\"private memory\",\"unit\":\"MiB\",\"value\":%.3f,\"samples\":[%.3f]}\n",
        ranks, ranks, (double)before_most / 1024, (double)least / 1024, (double)most / 1024, (double)most / 1024);
    fflush(stdout);
  }
  MPI_Finalize();
}
