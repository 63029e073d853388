#include "launch/boot/launcher_socket.hpp"

#include <errno.h>
#include <unistd.h>

#include <cstring>

#include "network/descriptor.hpp"

namespace heddle::boot {
namespace {

bool write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = send(fd, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) at += static_cast<std::size_t>(n);
  }
  return shutdown(fd, SHUT_WR) == 0;
}

bool read_all(int fd, std::string& text) {
  char buffer[4096];
  while (true) {
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n == 0) return true;
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
  }
}

bool connect_to(int fd, const LauncherAddress& launcher) {
  int result = 0;
  do {
    result = connect(fd, launcher.get(), launcher.bytes);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace

Result<std::string> ask(const LauncherAddress& launcher, const std::string& request) {
  const auto failed = [](const char* what, const char* cure = "") {
    return refuse("cannot send a request to mpiexec (%s: %s)%s", what, std::strerror(errno), cure);
  };
  const lln::Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd.number() < 0) return failed("socket");
  if (!connect_to(fd.number(), launcher))
    return failed("connect", "; a rank in a container or network namespace of its own cannot reach it");
  if (!write_all(fd.number(), request)) return failed("send");
  std::string answer;
  if (!read_all(fd.number(), answer)) return failed("recv");
  if (answer.empty()) return refuse("no answer of mpiexec: the job is ending");
  return answer;
}

}  // namespace heddle::boot
