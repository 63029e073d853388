// Starts one rank, or a host of several: from here to the first instruction of its program.
#pragma once

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <span>

namespace heddle::mpiexec {

struct SpawnPlan {
  const char* path;  // of the program, absolute or relative to `directory`
  char* const* arguments;
  char* const* script_arguments;  // for /bin/sh, if the program is a script without a #! line
  char* const* environment;
  const char* directory;  // null: ours
  const cpu_set_t* cpus;  // null: ours
  std::size_t cpus_bytes;
  int in, out, err;                 // descriptors that become 0, 1 and 2; all close-on-exec
  std::span<const int> inherited;   // others that are close-on-exec here and not there
  const sigset_t* signal_mask;      // of the rank: ours as it was before we blocked anything
  const sigset_t* default_signals;  // signals that we ignore and the rank should not
  const rlimit* open_files;         // of the rank: ours as it was
};

struct Spawned {
  pid_t pid;
  int error;         // errno of the step that failed, or 0
  const char* step;  // the step that failed, as in "cannot <step>"
};

// mpiexec's exit code when a start has failed with this errno, as shells say it.
constexpr int exit_code_of_start(int error) { return error == ENOENT ? 127 : 126; }

// The rank leads a process group of its own, so that one signal reaches everything it starts, and it dies
// with us.
Spawned spawn(const SpawnPlan& plan);

}  // namespace heddle::mpiexec
