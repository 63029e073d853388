// Operations between nodes whose peers have failed, or whose communicators were revoked.
#include <mpi-ext.h>

#include "messaging/message/protocol/remote/remote.hpp"
#include "messaging/message/verdicts.hpp"

namespace heddle::message {

void RemoteProtocols::end_with(Request& request, int error, Wakeups& wakeups) {
  if (request.receives) return parts_.completion.fail_receive(request, error, wakeups);
  request.error = error;
  forget(request);
  parts_.completion.finish(request, wakeups);
}

void RemoteProtocols::fail(const Verdicts& verdicts, Wakeups& wakeups) {
  fail_streams(verdicts, wakeups);
  fail_sends(verdicts, wakeups);
}

// Ends messages whose data are in flight. An incoming message ends like a receive without a match, since the sender may have withdrawn
// it; data that still arrive are dropped. An outgoing message to a living receiver continues: it waits only for the network.
void RemoteProtocols::fail_streams(const Verdicts& verdicts, Wakeups& wakeups) {
  int error = MPI_SUCCESS;
  streams_.abandon(
      [&](const Request& request, int peer) {
        error = verdicts.is_gone(peer) ? MPIX_ERR_PROC_FAILED
                : request.receives     ? verdicts.of_receive(request.context, request.source)
                                       : MPI_SUCCESS;
        return error != MPI_SUCCESS;
      },
      [&](Request& request) { end_with(request, error, wakeups); });
}

// Ends sends that were announced and not answered. It tells a living receiver, but does not wait for it: a later answer finds no send.
void RemoteProtocols::fail_sends(const Verdicts& verdicts, Wakeups& wakeups) {
  for (auto next = announced_.begin(); next != announced_.end();) {
    Request& send = **next;
    ++next;
    const int error = verdicts.of_send(send.context, send.peer);
    if (error == MPI_SUCCESS) continue;
    const bool gone = verdicts.is_gone(send.peer);
    if (!gone && send.send.name != 0) send_retract(send, wakeups);
    end_with(send, gone ? MPIX_ERR_PROC_FAILED : error, wakeups);
  }
}

}  // namespace heddle::message
