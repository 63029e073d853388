// How many addresses of the heap are set aside for what the program allocates there (windows), beyond what the library
// itself needs. The heap is sparse, so this is not memory until somebody touches it.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace heddle::lln::shm {

// Does the kernel count addresses as if they were memory (vm.overcommit_memory = 2)?
inline bool addresses_count() {
  const int file = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
  char mode = '0';
  if (file >= 0) {
    if (read(file, &mode, 1) != 1) mode = '0';
    close(file);
  }
  return mode == '2';
}

// All memory of the machine, twice since blocks are powers of two; but no more than a fair part of the limits on
// addresses (ulimit -v) and on the sizes of files (ulimit -f), which the job's segment must keep, too.
inline std::size_t window_room() {
  if (addresses_count()) return 0;
  std::size_t room =
      2 * static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (const auto resource : {RLIMIT_AS, RLIMIT_FSIZE}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      room = std::min<std::size_t>(room, limit.rlim_cur / 16);
  }
  return room / 4096 * 4096;
}

}  // namespace heddle::lln::shm
