// The end of operations that are cancelled, whose peers have failed, or whose communicators were revoked. Each part of the VNI's state
// handles its own operations.
//
// A failed peer is closed for good. Sends to it that wait end. Messages that have arrived from it can still be received; a message that
// is not complete cannot. A long message to a living receiver is withdrawn like a cancelled one. Within a node its claim decides
// (protocol/local/claims.hpp): if the receiver has taken the message, the data still move, even if the communicator was revoked.
#include <mpi-ext.h>

#include "messaging/message/verdicts.hpp"
#include "messaging/message/vni_state.hpp"

namespace heddle::message {

using lln::MessageKind;

void VniState::end_with(Request& request, int error, Wakeups& wakeups) {
  if (request.receives) return completion_.fail_receive(request, error, wakeups);
  request.error = error;
  if (!is_self(request)) by_protocol_of(request.peer, [&](auto& protocol) { protocol.forget(request); });
  completion_.finish(request, wakeups);
}

// ---- cancelling (MPI 5.0, section 3.8.4)

bool VniState::cancel(Request& request, Wakeups& wakeups) {
  if (request.done.load(std::memory_order_relaxed) == 1) return false;
  if (request.receives ? !matcher_.withdraw(request) : !withdraw(request, wakeups)) return false;
  if (request.receives) request.error = MPI_SUCCESS;  // a report of MPIX_ERR_PROC_FAILED_PENDING may have set it
  request.cancelled = true;
  completion_.finish(request, wakeups);
  return true;
}

// Withdraws a send that has not left, a send to this rank that has no receive yet, or a send that its receiver has not taken. A send to
// another node may complete as cancelled later.
bool VniState::withdraw(Request& send, Wakeups& wakeups) {
  if (is_self(send)) return self_.cancel(send);
  const bool waited = outgoing_.outbox().remove(send);
  wake_follower(wakeups);
  return by_protocol_of(send.peer, [&](auto& protocol) {
    if (waited) protocol.forget(send);
    return waited || protocol.cancel(send, wakeups);
  });
}

// ---- failures

bool VniState::sweep(const Verdicts& verdicts, Wakeups& wakeups) {
  close_peers(verdicts, wakeups);
  outgoing_.outbox().sift([&](const OutboxItem& item) {
    const int error =
        item.request != nullptr ? verdicts.of_send(item.request->context, item.request->peer) : MPI_SUCCESS;
    if (error != MPI_SUCCESS) end_with(*item.request, error, wakeups);
    return error == MPI_SUCCESS;
  });
  const bool complete = local_.fail(verdicts, wakeups);
  if (context_.networks != nullptr) remote_.fail(verdicts, wakeups);
  sweep_receives(verdicts, wakeups);
  sweep_unexpected(verdicts, wakeups);
  return complete;
}

// Takes the messages that these peers have sent before it closes them.
void VniState::close_peers(const Verdicts& verdicts, Wakeups& wakeups) {
  Outbox& outbox = outgoing_.outbox();
  bool news = false;
  for (const int peer : verdicts.gone()) news |= !outbox.is_closed(peer);
  if (news) (void)drain(everything, wakeups);
  for (const int peer : verdicts.gone()) {
    if (outbox.is_closed(peer)) continue;
    route_.give_up(peer);
    while (outbox.first_long(peer) != nullptr) outbox.end_first_long(peer);
    outbox.close(peer, [&](OutboxItem& item) {
      if (item.request != nullptr) end_with(*item.request, MPIX_ERR_PROC_FAILED, wakeups);
    });
  }
}

void VniState::sweep_receives(const Verdicts& verdicts, Wakeups& wakeups) {
  matcher_.sift(
      [&](Request& receive) -> int {
        const int error = verdicts.of_receive(receive.context, receive.source);
        if (error == MPIX_ERR_PROC_FAILED_PENDING) {
          report_pending(receive, wakeups);
        } else if (error == MPI_SUCCESS) {
          // The failure has been acknowledged. A call that has seen the report calls resolve() for the present state.
          Completion::withdraw_report(receive);
        } else {
          return error;
        }
        return MPI_SUCCESS;
      },
      [&](Request& receive, int error) { end_with(receive, error, wakeups); });
}

void VniState::sweep_unexpected(const Verdicts& verdicts, Wakeups& wakeups) {
  const auto is_lost = [&](const Unexpected& message) {
    if (message.local != nullptr) return verdicts.of_send(message.local->context, message.local->peer) != MPI_SUCCESS;
    return message.header.kind == MessageKind::rts && verdicts.is_gone(message.sender);
  };
  matcher_.for_each_unexpected([&](Unexpected& message) {
    if (!is_lost(message)) return;
    Request* const send = message.local;
    matcher_.remove_unexpected(message);
    if (message.origin == Unexpected::Origin::this_node) local_.decline(message);
    unexpected_.drop(message);
    if (send != nullptr) end_with(*send, verdicts.of_send(send->context, send->peer), wakeups);
  });
}

// The receive stays posted, and a thread that waits for it continues as if it were complete. No thread waits for a freed receive.
void VniState::report_pending(Request& receive, Wakeups& wakeups) {
  if (receive.owner == Owner::none || receive.done.load(std::memory_order_relaxed) != 0) return;
  receive.error = MPIX_ERR_PROC_FAILED_PENDING;
  completion_.report(receive, Completion::reported_pending, wakeups);
}

bool VniState::disown(Request& request) {
  Completion::withdraw_report(request);
  if (request.done.load(std::memory_order_relaxed) != 0) return true;
  request.owner = Owner::none;
  return false;
}

bool VniState::resolve(Request& receive, bool at_its_end, Wakeups& wakeups) {
  if (receive.done.load(std::memory_order_relaxed) == 1) {  // a message has come after the report
    if (receive.error == MPIX_ERR_PROC_FAILED_PENDING) receive.error = MPI_SUCCESS;
    return false;
  }
  // Otherwise the failure has been acknowledged since the report, or a long message is arriving.
  const bool is_reported = receive.done.load(std::memory_order_relaxed) == Completion::reported_pending;
  Completion::withdraw_report(receive);
  if (!at_its_end || !is_reported || !matcher_.withdraw(receive)) return true;
  end_with(receive, MPIX_ERR_PROC_FAILED, wakeups);
  return false;
}

}  // namespace heddle::message
