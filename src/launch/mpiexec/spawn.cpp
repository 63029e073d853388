#include "launch/mpiexec/spawn.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace heddle::mpiexec {
namespace {

// The child's report: after vfork it runs in our memory until it executes the program.
struct Report {
  int error;
  const char* step;
};

// In the child, in our memory and on our stack's continuation: system calls only, nothing that allocates or
// that leaves a trace in the parent. Returns only if something failed.
Report become(const SpawnPlan& plan, pid_t parent) {
  // The kernel ends us when mpiexec ends, even if it is killed; it may have been just now.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return {ESRCH, "keep mpiexec as the parent"};
  setpgid(0, 0);
  if (plan.cpus != nullptr && sched_setaffinity(0, plan.cpus_bytes, plan.cpus) != 0) {
    return {errno, "choose the cores"};
  }
  setrlimit(RLIMIT_NOFILE, plan.open_files);
  if (plan.directory != nullptr && chdir(plan.directory) != 0) return {errno, "enter the working directory"};
  // dup2 of a descriptor onto itself would leave it close-on-exec; ours are never 0 to 2, except our own input.
  if (plan.in != STDIN_FILENO && dup2(plan.in, STDIN_FILENO) < 0) return {errno, "connect the input"};
  if (dup2(plan.out, STDOUT_FILENO) < 0 || dup2(plan.err, STDERR_FILENO) < 0) {
    return {errno, "connect the output"};
  }
  for (int fd : plan.inherited) fcntl(fd, F_SETFD, 0);
  for (int number = 1; number < SIGRTMIN; ++number) {
    if (sigismember(plan.default_signals, number) == 1) signal(number, SIG_DFL);
  }
  sigprocmask(SIG_SETMASK, plan.signal_mask, nullptr);
  execve(plan.path, plan.arguments, plan.environment);
  if (errno == ENOEXEC && plan.script_arguments != nullptr) {
    execve("/bin/sh", plan.script_arguments, plan.environment);
  }
  return {errno, "execute the program"};
}

}  // namespace

// vfork, because a fork copies page tables for nothing, and posix_spawn can set neither the death signal nor
// the affinity. The child shares this frame until it executes; `report` is volatile because it writes it
// there.
[[gnu::noinline]] Spawned spawn(const SpawnPlan& plan) {
  volatile int error = 0;
  const char* volatile step = nullptr;
  const pid_t parent = getpid();
  const pid_t pid = vfork();
  if (pid < 0) return {-1, errno, "make the process"};
  if (pid == 0) {
    const Report report = become(plan, parent);
    error = report.error;
    step = report.step;
    _exit(127);
  }
  return {pid, error, step};
}

}  // namespace heddle::mpiexec
