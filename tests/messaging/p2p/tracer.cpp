// Under Yama's ptrace_scope 1 a process may reach the memory of its children only, and ranks are siblings; unless the other has
// said that it may. Each rank reports it once, unconditionally.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <vector>

#include "mpi/check.hpp"

namespace {

int announced = 0;

}  // namespace

// In place of libc's.
extern "C" [[gnu::visibility("default")]] int prctl(int option, ...) {
  if (option == PR_SET_PTRACER) ++announced;
  va_list arguments;
  va_start(arguments, option);
  unsigned long words[4];
  for (unsigned long& word : words) word = va_arg(arguments, unsigned long);
  va_end(arguments);
  return static_cast<int>(syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]));
}

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  // Also of a rank that is alone: others may be spawned.
  test::equal(announced, 1, "how often it was said before the first message");

  const int peer = (test::rank() + 1) % test::size();
  const int previous = (test::rank() + test::size() - 1) % test::size();
  const std::vector<char> out(100'000, static_cast<char>(test::rank()));
  std::vector<char> in(out.size());
  MPI_Sendrecv(out.data(), 100'000, MPI_CHAR, peer, 0, in.data(), 100'000, MPI_CHAR, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  test::equal(in.back(), previous, "what arrived");
  MPI_Win win;
  MPI_Win_create(in.data(), 100'000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_free(&win);
  test::equal(announced, 1, "how often it was said");
}
