// mpiexec, the thin first one: -n N program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <string>
#include <vector>

#include "boot/cores.hpp"
#include "boot/mpiexec/segment.hpp"
#include "boot/mpiexec/spawn.hpp"

extern char** environ;

namespace heddle::boot {
namespace {

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string candidate = rest.substr(0, colon) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return name;
}

int run(int argc, char** argv) {
  int size = 1, next = 1;
  if (argc > 2 && (strcmp(argv[1], "-n") == 0 || strcmp(argv[1], "-np") == 0)) {
    size = atoi(argv[2]);
    next = 3;
  }
  if (next >= argc || size < 1) {
    fprintf(stderr, "usage: mpiexec -n N program arguments...\n");
    return 2;
  }
  const int cores = usable_cores();
  const std::vector<RankPlan> plan(size, RankPlan{0, size, cores > size ? cores / size : 1, false});
  const Segment segment = make_segment(plan, cores);
  const std::string program = find_program(argv[next]);
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (int rank = 0; rank < size; ++rank) {
    setenv(job_fd_variable, std::to_string(segment.fd).c_str(), 1);
    setenv(launcher_variable, std::to_string(getpid()).c_str(), 1);
    setenv(rank_variable, std::to_string(rank).c_str(), 1);
    setenv(size_variable, std::to_string(size).c_str(), 1);
    segment.records[rank].state.store(RankState::running);
    const Spawned child =
        spawn({program.c_str(), argv + next, environ, nullptr, nullptr, 0, 0, 1, 2, &mask, -1});
    if (child.error != 0) {
      fprintf(stderr, "mpiexec: cannot %s: %s\n", child.step, strerror(child.error));
      return 127;
    }
  }
  int result = 0, status = 0;
  pid_t pid;
  while ((pid = wait(&status)) > 0) {
    const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (code == 0 || result != 0) continue;
    result = code;
    for (int rank = 0; rank < size; ++rank) {
      const RankRecord& record = segment.records[rank];
      if (record.state.load() == RankState::aborted) fprintf(stderr, "%s\n", record.abort_text);
      if (record.pid.load() > 0) kill(-record.pid.load(), SIGKILL);
    }
  }
  return result;
}

}  // namespace
}  // namespace heddle::boot

int main(int argc, char** argv) {
  try {
    return heddle::boot::run(argc, argv);
  } catch (const std::exception& problem) {
    fprintf(stderr, "mpiexec: %s\n", problem.what());
    return 1;
  }
}
