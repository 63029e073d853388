// Packing and unpacking of everyday layouts with MPI_Pack and MPI_Unpack, beside the loop that one would write by hand.
// One rank; prints GB/s of packed data, the median of the repetitions. Needs no communication.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { repetitions = 21, target = 1 << 20 };  // bytes packed at a time

struct Layout {
  const char* name;
  int block;    // bytes of a run
  int stride;   // from one to the next
  int indexed;  // places in a list, not quite regular
};

static const struct Layout layouts[] = {
    {"4 of 8 bytes", 4, 8, 0},
    {"8 of 16 bytes", 8, 16, 0},
    {"8 of 512 bytes (a column)", 8, 512, 0},
    {"16 of 48 bytes", 16, 48, 0},
    {"20 of 32 bytes", 20, 32, 0},
    {"100 of 200 bytes", 100, 200, 0},
    {"1000 of 2000 bytes", 1000, 2000, 0},
    {"8 bytes, indexed", 8, 24, 1},
    {"12 bytes, indexed", 12, 40, 1},
};

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static int place(const struct Layout* l, int i) { return i * l->stride + (l->indexed ? i % 2 * 4 : 0); }

static MPI_Datatype make(const struct Layout* l, int count) {
  MPI_Datatype type;
  if (l->indexed) {
    MPI_Aint* places = malloc(sizeof *places * (size_t)count);
    for (int i = 0; i < count; ++i) places[i] = place(l, i);
    MPI_Type_create_hindexed_block(count, l->block, places, MPI_BYTE, &type);
    free(places);
  } else {
    MPI_Type_create_hvector(count, l->block, l->stride, MPI_BYTE, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  printf("%-28s %10s %10s %10s %10s   GB/s of packed data\n", "layout", "pack", "by hand", "unpack", "by hand");
  for (size_t k = 0; k < sizeof layouts / sizeof *layouts; ++k) {
    const struct Layout* l = &layouts[k];
    const int count = target / l->block;
    const int bytes = count * l->block;
    char* data = malloc((size_t)count * (size_t)l->stride + 64);
    char* packed = malloc((size_t)bytes);
    char* expected = malloc((size_t)bytes);
    for (size_t i = 0; i < (size_t)count * (size_t)l->stride + 64; ++i) data[i] = (char)(i * 7 + i / 251);
    MPI_Datatype type = make(l, count);
    double rate[4][repetitions];
    for (int r = 0; r < repetitions; ++r) {
      int position = 0;
      double start = MPI_Wtime();
      MPI_Pack(data, 1, type, packed, bytes, &position, MPI_COMM_SELF);
      rate[0][r] = bytes / (MPI_Wtime() - start) / 1e9;
      start = MPI_Wtime();
      for (int i = 0; i < count; ++i) memcpy(expected + (size_t)i * l->block, data + place(l, i), (size_t)l->block);
      rate[1][r] = bytes / (MPI_Wtime() - start) / 1e9;
      if (memcmp(packed, expected, (size_t)bytes) != 0) {
        fprintf(stderr, "%s: packed the wrong bytes\n", l->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
      position = 0;
      start = MPI_Wtime();
      MPI_Unpack(packed, bytes, &position, data, 1, type, MPI_COMM_SELF);
      rate[2][r] = bytes / (MPI_Wtime() - start) / 1e9;
      start = MPI_Wtime();
      for (int i = 0; i < count; ++i) memcpy(data + place(l, i), packed + (size_t)i * l->block, (size_t)l->block);
      rate[3][r] = bytes / (MPI_Wtime() - start) / 1e9;
    }
    printf("%-28s", l->name);
    for (int c = 0; c < 4; ++c) {
      qsort(rate[c], repetitions, sizeof(double), by_value);
      printf(" %10.2f", rate[c][repetitions / 2]);
    }
    printf("\n");
    MPI_Type_free(&type);
    free(data);
    free(packed);
    free(expected);
  }
  MPI_Finalize();
  return 0;
}
