// The intervals after which the mpiexec of a node and the coordinator notice a broken connection (a cable, a machine).
//
// Each sends something now and then, and the kernel of the other acknowledges, however busy that machine is; without an
// acknowledgement for some time, the connection is dead for the sender. The node ends its ranks then. The coordinator,
// which may notice at the same moment, waits until that has been done before it reports the ranks as gone: so both
// together take less than a second.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "launch/mpiexec/limits.hpp"

namespace heddle::mpiexec {

inline void set_connection_timeout(int socket) {
  const auto milliseconds = static_cast<unsigned>(connection_timeout.count());
  (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

}  // namespace heddle::mpiexec
