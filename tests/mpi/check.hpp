// The common part of the tests that are MPI programs. They use nothing but the standard, so they run on any MPI.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <source_location>

namespace test {

inline int rank_in(MPI_Comm comm) {
  int r;
  MPI_Comm_rank(comm, &r);
  return r;
}
inline int size_of(MPI_Comm comm) {
  int n;
  MPI_Comm_size(comm, &n);
  return n;
}
inline int rank() { return rank_in(MPI_COMM_WORLD); }
inline int size() { return size_of(MPI_COMM_WORLD); }

inline int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

// Ends the job with the place that failed.
inline void check(bool holds, const char* what = "", std::source_location at = std::source_location::current()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: check failed on rank %d: %s\n", at.file_name(), at.line(), rank(), what);
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
// Compares two integers and prints both.
inline void equal(long long a, long long b, const char* what = "",
                  std::source_location at = std::source_location::current()) {
  if (a == b) return;
  std::fprintf(stderr, "%s:%u: check failed on rank %d: %s: %lld is not %lld\n", at.file_name(), at.line(), rank(),
               what, a, b);
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// The seed of a random test: argument or a fresh one, the same on every rank, printed by rank 0.
inline unsigned seed(int argc, char** argv) {
  unsigned s = argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 0)) : std::random_device{}();
  MPI_Bcast(&s, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  if (rank() == 0) std::printf("seed %u (give it as the first argument to repeat)\n", s);
  std::fflush(stdout);  // seen even if the test is ended because it hangs
  return s;
}

// MPI_Init_thread at MPI_THREAD_MULTIPLE and MPI_Finalize around main.
struct Session {
  Session(int* argc, char*** argv) {
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    equal(provided, MPI_THREAD_MULTIPLE, "thread level");
  }
  ~Session() { MPI_Finalize(); }
};

}  // namespace test
