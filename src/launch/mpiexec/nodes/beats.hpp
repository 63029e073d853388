// How soon the mpiexec of a node and the coordinator notice that nothing of the other arrives any more (a cable, a machine).
//
// Each says something now and then, and the kernel of the other answers, however busy that machine is; if none does for some time, the
// connection is dead for who has sent. The node ends its ranks then. The coordinator, who may notice at the same moment, waits until that
// has been done before it tells anybody that they are gone: so both together take less than a second.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "launch/mpiexec/limits.hpp"

namespace heddle::mpiexec {

inline void notice_silence(int socket) {
  const auto milliseconds = static_cast<unsigned>(longest_silence.count());
  (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

}  // namespace heddle::mpiexec
