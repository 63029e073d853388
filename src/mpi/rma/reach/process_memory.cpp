#include "mpi/rma/reach/process_memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace heddle::rma {

namespace {

// The number of entries of a list that make up its first `bytes`; the last of them is cut to that.
std::size_t cut(iovec* list, std::size_t bytes) {
  std::size_t n = 0;
  for (; bytes != 0; ++n) {
    list[n].iov_len = std::min(list[n].iov_len, bytes);
    bytes -= list[n].iov_len;
  }
  return n;
}

}  // namespace

int move_far(boot::Direction direction, pid_t process, const Layout& ours, const Layout& theirs, std::size_t skip,
             std::size_t n) {
  constexpr std::size_t batch = 64;
  for (std::size_t done = 0; done < n;) {
    iovec local[batch];
    iovec remote[batch];
    std::size_t our_bytes, their_bytes;
    segments(*ours.type, ours.at, ours.count, done, local, batch, our_bytes);
    segments(*theirs.type, theirs.at, theirs.count, skip + done, remote, batch, their_bytes);
    // The kernel traverses both lists before it moves the common part, so neither may be longer than the other.
    const std::size_t bytes = std::min({our_bytes, their_bytes, n - done});
    const ssize_t moved = boot::move_between(direction, process, local, cut(local, bytes), remote, cut(remote, bytes));
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved == 0 ? EFAULT : errno;
    done += static_cast<std::size_t>(moved);
  }
  return 0;
}

}  // namespace heddle::rma
