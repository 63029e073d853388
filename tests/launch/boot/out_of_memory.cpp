// MPI_Init in a process that has no memory left from its n-th allocation on, or whose n-th allocation fails: MPI is there, or the process
// ends with a message and an exit code, but not by an exception that no function catches. Each n is a process of its own.
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "messaging/p2p/failing_malloc.hpp"

namespace {

constexpr int survived = 90, not_reached = 91;

[[noreturn]] void start(long at, bool for_good) {
  test::Shortage& shortage = *test_shortage();
  shortage = {.for_good = for_good, .on = true, .at = at};
  (void)MPI_Init(nullptr, nullptr);
  shortage.on = false;
  _exit(shortage.seen >= at ? survived : not_reached);
}

// Returns the process's output on standard error, and the status of its end.
std::string run(long at, bool for_good, int& status) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    alarm(30);
    start(at, for_good);
  }
  close(ends[1]);
  std::string text;
  char part[512];
  for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  return child > 0 && waitpid(child, &status, 0) == child ? text : std::string();
}

}  // namespace

int main() {
  int failures = 0;
  for (const bool for_good : {false, true}) {
    for (long at = 1;; ++at) {
      int status = 0;
      const std::string text = run(at, for_good, status);
      if (WIFEXITED(status) && WEXITSTATUS(status) == not_reached) break;
      if (WIFEXITED(status) && WEXITSTATUS(status) == survived) continue;
      if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && text.find("out of memory") != std::string::npos) continue;
      std::printf("allocation %ld%s: status %#x\n%s\n", at, for_good ? " and later ones" : "",
                  static_cast<unsigned>(status), text.c_str());
      ++failures;
    }
  }
  if (failures == 0) std::puts("no process ended without a reason");
  return failures != 0;
}
