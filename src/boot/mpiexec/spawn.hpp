// Starts one rank: from here to the first instruction of its program.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/types.h>

#include <string>

namespace heddle::boot {

struct SpawnPlan {
  const char* path;  // of the program, absolute or relative to `directory`
  char* const* arguments;
  char* const* environment;
  const char* directory;  // null: ours
  const cpu_set_t* cpus;  // null: ours
  std::size_t cpus_bytes;
  int in, out, err;             // descriptors that become 0, 1 and 2; all close-on-exec
  const sigset_t* signal_mask;  // of the rank: ours as it was before we blocked anything
  long open_files_limit;        // of the rank: ours as it was; -1: leave it
};

struct Spawned {
  pid_t pid;
  int error;         // errno of the step that failed, or 0
  const char* step;  // what failed, as in "cannot <step>"
};

// The rank leads a process group of its own, so that one signal reaches everything it starts, and it dies
// with us.
Spawned spawn(const SpawnPlan& plan);

}  // namespace heddle::boot
