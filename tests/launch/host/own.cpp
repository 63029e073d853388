// The private state of a rank, whether it is a process or a thread: globals, thread-locals, constructors, iostreams, libc's
// memory, and threads that belong to it.
#include <getopt.h>
#include <limits.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

int constructed = 0;
struct Counted {
  Counted() { ++constructed; }
} counted;
int global = 10;
thread_local int local = 20;

int fail(const char* what, int rank) {
  std::fprintf(stderr, "rank %d: %s\n", rank, what);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  int level, rank, size;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int wrong = constructed == 1 ? 0 : fail("constructors did not run once", rank);
  global += rank;
  local += rank;
  std::srand(static_cast<unsigned>(rank) + 1);
  setenv("OWN", std::to_string(rank).c_str(), 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (global != 10 + rank) wrong += fail("a global is not its own", rank);
  if (local != 20 + rank) wrong += fail("a thread-local is not its own", rank);
  if (std::getenv("OWN") != std::to_string(rank)) wrong += fail("the environment is not its own", rank);

  std::thread([&] {
    if (local != 20) wrong += fail("a new thread has an old thread-local", rank);
    int here, sum;
    MPI_Comm_rank(MPI_COMM_WORLD, &here);
    MPI_Allreduce(&here, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (here != rank || sum != size * (size - 1) / 2) wrong += fail("a thread belongs to another rank", rank);
  }).join();

  try {
    throw std::runtime_error("caught");
  } catch (const std::exception& e) {
    std::ostringstream text;
    text << e.what() << ' ' << 2.5 << ' ' << 7;
    if (text.str() != "caught 2.5 7") wrong += fail("iostreams or exceptions do not work", rank);
  }

  optind = 1;
  char name[] = "own", option[] = "-ax", operand[] = "y";
  char* words[] = {name, operand, option, nullptr};
  if (getopt(3, words, "a:") != 'a' || optarg == nullptr || std::string(optarg) != "x" ||
      getopt(3, words, "a:") != -1 || optind != 2)
    wrong += fail("getopt does not work", rank);

  char* exe = realpath("/proc/self/exe", nullptr);
  char* program = realpath(argv[0], nullptr);
  char link[PATH_MAX] = "", link_at[PATH_MAX] = "";
  const std::string number = "/proc/" + std::to_string(getpid()) + "/exe";
  if (readlink("/proc/self/exe", link, sizeof link - 1) < 0 ||
      readlinkat(-1, number.c_str(), link_at, sizeof link_at - 1) < 0 || exe == nullptr || program == nullptr ||
      std::string(exe) != program || std::string(link) != program || std::string(link_at) != program)
    wrong += fail("the path of the program is not its own", rank);
  std::free(exe);
  std::free(program);

  // The sequence of rank 0 alone and beside the others is the same.
  const int first = std::rand();
  int second = 0;
  MPI_Sendrecv(&first, 1, MPI_INT, (rank + 1) % size, 0, &second, 1, MPI_INT, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::srand(static_cast<unsigned>((rank + size - 1) % size) + 1);
  if (std::rand() != second) wrong += fail("random numbers are not its own", rank);
  MPI_Finalize();
  return wrong;
}
