#include "rma/far_memory.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>

#include <cerrno>

namespace heddle::rma {

void open_own_memory() { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

int probe_far(pid_t pid, const void* address) {
  char byte;
  const iovec local{&byte, 1};
  const iovec remote{const_cast<void*>(address), 1};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1 ? 0 : errno;
}

int move_far(Direction direction, pid_t pid, const Layout& ours, const Layout& theirs, std::size_t skip,
             std::size_t n) {
  constexpr std::size_t batch = 64;
  const auto move = direction == Direction::read ? process_vm_readv : process_vm_writev;
  for (std::size_t done = 0; done < n;) {
    iovec local[batch];
    iovec remote[batch];
    std::size_t bytes;
    const std::size_t locals = segments(*ours.type, ours.at, ours.count, done, local, batch, bytes);
    const std::size_t remotes = segments(*theirs.type, theirs.at, theirs.count, skip + done, remote, batch, bytes);
    // The shorter of the two lists ends it.
    const ssize_t moved = move(pid, local, locals, remote, remotes, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved == 0 ? EFAULT : errno;
    done += static_cast<std::size_t>(moved);
  }
  return 0;
}

}  // namespace heddle::rma
