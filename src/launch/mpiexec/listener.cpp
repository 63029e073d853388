#include "launch/mpiexec/listener.hpp"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <system_error>

#include "launch/boot/launcher_socket.hpp"

namespace heddle::mpiexec {
namespace {

constexpr std::size_t longest_request = std::size_t{16} << 20;
constexpr int backlog = 128;

bool is_ours(int fd) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

}  // namespace

Listener::Listener(const boot::JobHeader& job, Answerer& answerer)
    : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), answerer_(answerer) {
  const boot::LauncherAddress own(job.launcher, job.key);
  if (fd_ < 0 || bind(fd_, own.get(), own.bytes) != 0 || ::listen(fd_, backlog) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot listen to the ranks (a local socket)");
}

Listener::~Listener() {
  for (const Connection& connection : connections_) close(connection.fd);
  close(fd_);
}

void Listener::add_to(std::vector<pollfd>& wanted) const {
  wanted.push_back({fd_, POLLIN, 0});
  for (const Connection& connection : connections_) wanted.push_back({connection.fd, POLLIN, 0});
}

void Listener::serve(const pollfd* polled) {
  const bool more = polled->revents != 0;
  std::erase_if(connections_, [&](Connection& connection) {
    ++polled;
    return polled->revents != 0 && !read(connection);
  });
  if (more) accept_all();
}

void Listener::accept_all() {
  int fd = -1;
  while ((fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
    if (is_ours(fd))
      connections_.push_back({fd, {}});
    else
      close(fd);
  }
}

bool Listener::read(Connection& connection) {
  char buffer[65536];
  const ssize_t n = recv(connection.fd, buffer, sizeof buffer, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n > 0 && connection.request.size() < longest_request) {
    connection.request.append(buffer, static_cast<std::size_t>(n));
    return true;
  }
  // An answer is short: the socket's buffer has room for it.
  if (n == 0) {
    const std::string answer = answerer_.answer(connection.request);
    (void)send(connection.fd, answer.data(), answer.size(), MSG_NOSIGNAL);
  }
  close(connection.fd);
  return false;
}

}  // namespace heddle::mpiexec
