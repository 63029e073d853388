// file: collective access to a file in which the ranks' blocks of --size bytes take turns. `--mode write|read`: GB/s of
// all ranks together.
//
// A round is one MPI_File_write_at_all or MPI_File_read_at_all of the whole file, --scale MiB. --file PATH says where,
// without it a file in the current folder; it is deleted at the end. It measures the page cache, as long as the file fits. Every block has a stamp, which the ranks check in what they read, after the last write too.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct {
  const bench* b;
  MPI_File file;
  char* data;
  long blocks;
  bool read;
  long last;
} job;

static uint64_t stamp_of(const job* j, long block) {
  return ((uint64_t)j->last * (uint64_t)j->blocks + (uint64_t)block) * (uint64_t)j->b->ranks + (uint64_t)j->b->rank + 1;
}

static void must(const bench* b, int code, const char* what) {
  if (code != MPI_SUCCESS) bench_wrong(b, what, MPI_SUCCESS, code);
}

static void stamp(job* j) {
  for (long i = 0; i < j->blocks; ++i) bench_stamp(j->data + (size_t)i * j->b->size, j->b->size, stamp_of(j, i));
}

static void check(const job* j) {
  for (long i = 0; i < j->blocks; ++i)
    if (!bench_stamped(j->data + (size_t)i * j->b->size, j->b->size, stamp_of(j, i)))
      bench_wrong(j->b, "what was read of block", i, j->last);
  bench_checked(j->blocks);
}

static void rounds_of(void* ctx, int thread, long first, long rounds) {
  job* j = ctx;
  const int count = (int)j->blocks;
  (void)thread, (void)first;
  MPI_Datatype block;
  MPI_Type_contiguous((int)j->b->size, MPI_BYTE, &block);
  MPI_Type_commit(&block);
  for (long i = 0; i < rounds; ++i) {
    must(j->b,
         j->read ? MPI_File_read_at_all(j->file, 0, j->data, count, block, MPI_STATUS_IGNORE)
                 : MPI_File_write_at_all(j->file, 0, j->data, count, block, MPI_STATUS_IGNORE),
         "a collective access");
  }
  MPI_Type_free(&block);
}

static void view(const bench* b, MPI_File file) {
  MPI_Datatype block, turns;
  MPI_Type_contiguous((int)b->size, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, (MPI_Aint)b->size * b->ranks, &turns);
  MPI_Type_commit(&turns);
  must(b, MPI_File_set_view(file, (MPI_Offset)b->size * b->rank, MPI_BYTE, turns, "native", MPI_INFO_NULL), "a view");
  MPI_Type_free(&block);
  MPI_Type_free(&turns);
}

int main(int argc, char** argv) {
  bench b = {.mode = "write", .size = 4096, .scale = 64, .file = "heddle-bench-file"};
  bench_begin(&b, "file", 0, &argc, &argv);
  if (strcmp(b.mode, "write") && strcmp(b.mode, "read")) {
    if (!b.rank) fprintf(stderr, "file: --mode write|read\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  job j = {.b = &b, .read = !strcmp(b.mode, "read")};
  j.blocks = (long)(((size_t)b.scale << 20) / b.size / (size_t)b.ranks);
  j.data = bench_alloc((size_t)j.blocks * b.size);
  const int amode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE;
  must(&b, MPI_File_open(b.control, b.file, amode, MPI_INFO_NULL, &j.file), "open");
  view(&b, j.file);
  stamp(&j);
  const bool read = j.read;
  j.read = false, rounds_of(&j, 0, 0, 1), j.read = read;
  bench_timing t = bench_measure(&b, rounds_of, &j, 0);
  if (!j.read) {
    memset(j.data, 0, (size_t)j.blocks * b.size);
    MPI_File_sync(j.file);
    j.read = true, rounds_of(&j, 0, 0, 1);
  }
  check(&j);
  bench_report(&b, &t, BENCH_RATE, 1e-9 * (double)j.blocks * (double)b.size * b.ranks, b.mode, "GB/s");
  MPI_File_close(&j.file);
  free(j.data);
  bench_end(&b);
}
