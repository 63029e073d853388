// The size of a node's heap. It is sparse, so these are addresses, and memory only once touched.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace heddle::node {

// True if the kernel counts addresses as memory (vm.overcommit_memory = 2).
inline bool addresses_count() {
  const int file = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
  char mode = '0';
  if (file >= 0) {
    if (read(file, &mode, 1) != 1) mode = '0';
    close(file);
  }
  return mode == '2';
}

// Reserved from all other uses of the heap: a channel in each direction for every pair, of as many VNIs as a model has
// by default.
constexpr std::size_t bytes_for_channels(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  constexpr std::size_t vnis = 4;
  return vnis * n * n * (std::size_t{256} << 10);
}
// The library's own need: channels of every pair, pipes, and room for collectives.
constexpr std::size_t heap_bytes(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  return bytes_for_channels(ranks) + n * (std::size_t{64} << 20) + (std::size_t{256} << 20);
}

// The number of ranks that may be spawned into a job during its life, and the number of them with memory of the
// library. None where addresses are scarce.
inline constexpr int most_spawned = 4096;
inline constexpr int spare_ranks = 32;
inline bool has_room_for_spawned() {
  if (addresses_count()) return false;
  for (const auto resource : {RLIMIT_AS, RLIMIT_FSIZE}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return false;
  }
  return true;
}

// Set aside beyond that for windows. All memory of the machine, twice since blocks are powers of two; but at most a
// fair part of the limits on addresses (ulimit -v) and on the sizes of files (ulimit -f), which apply to the job's
// segment, too.
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

}  // namespace heddle::node
