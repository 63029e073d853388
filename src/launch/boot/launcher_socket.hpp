// The socket on which mpiexec listens to its ranks: a local one without a file, so nothing remains after it. A rank
// connects, writes a request, shuts its side down, and reads the answer to the end (spawn_request.hpp and decisions.hpp
// describe them).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/result.hpp"

namespace heddle::boot {

struct LauncherAddress {
  sockaddr_un address{};
  socklen_t bytes = 0;

  // `launcher`: pid of mpiexec; `key`: of the job.
  LauncherAddress(int launcher, std::uint64_t key) {
    address.sun_family = AF_UNIX;  // sun_path begins with a null: an abstract name, outside of file systems
    const int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "heddle-%d-%016llx", launcher,
                                     static_cast<unsigned long long>(key));
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// In a rank: one request and its answer.
Result<std::string> ask(const LauncherAddress& launcher, const std::string& request);

}  // namespace heddle::boot
