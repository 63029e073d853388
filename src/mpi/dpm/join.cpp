// MPI_Comm_join (MPI 5.0, section 11.10.4): two processes that have a socket between them.
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>

#include "mpi/comm/join_groups.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/context.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

namespace {

// The data of each end.
struct Introduction {
  static constexpr std::uint64_t expected_magic = 0x6a6f696e68656464;  // "join.hedd"

  std::uint64_t magic = expected_magic;
  std::uint64_t job = 0;
  std::int64_t rank = 0;  // in the job
};

// True if the call may be made again: interrupted, or a socket that does not block and is not ready yet.
bool may_go_on(int fd, short event) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd socket{fd, event, 0};
  return poll(&socket, 1, -1) > 0 || errno == EINTR;
}

template <class Move>
Error move_all(int fd, short event, std::size_t bytes, Move&& move) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = move(done);
    if (n == 0) return fail(MPI_ERR_OTHER, "fd is %d: its other end is closed", fd);
    if (n < 0 && !may_go_on(fd, event)) return fail(MPI_ERR_OTHER, "fd is %d: %s", fd, std::strerror(errno));
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return success;
}

// Few enough bytes for the socket to take them before the other end reads.
template <class T>
Error swap(int fd, const T& ours, T& theirs) {
  const auto* const out = reinterpret_cast<const char*>(&ours);
  auto* const in = reinterpret_cast<char*>(&theirs);
  const auto write = [&](std::size_t done) { return send(fd, out + done, sizeof(T) - done, MSG_NOSIGNAL); };
  const auto read = [&](std::size_t done) { return recv(fd, in + done, sizeof(T) - done, 0); };
  if (Error e = move_all(fd, POLLOUT, sizeof(T), write)) return e;
  return move_all(fd, POLLIN, sizeof(T), read);
}

}  // namespace

// There can be no communicator with a process of another job, which is no error.
Error Comm_join(int fd, MPI_Comm* intercomm) {
  Rank& rank = current_rank();
  *intercomm = MPI_COMM_NULL;
  if (Error e = check_survivable(rank, "an intercommunicator")) return e;
  if (rank.self == nullptr) return fail(MPI_ERR_OTHER, "the world model is not initialized, or finalized already");
  const Introduction ours{.job = rank.job->key(), .rank = rank.world_rank};
  Introduction theirs;
  if (Error e = swap(fd, ours, theirs)) return e;
  if (theirs.magic != ours.magic)
    return fail(MPI_ERR_OTHER, "fd is %d: its other end is not in MPI_Comm_join of this library", fd);
  if (theirs.job != ours.job) return success;
  const auto exchange = [&](const Group&, Context offered, Remote& remote) {
    remote.size = 1;
    remote.world_ranks = {static_cast<int>(theirs.rank)};
    return swap(fd, offered, remote.offered);
  };
  Comm* made = nullptr;
  if (Error e = join_groups(*rank.self, 0, nullptr, 0, exchange, made)) return e;
  *intercomm = handle_of<MPI_Comm>(*made);
  return success;
}

}  // namespace heddle::mpi
