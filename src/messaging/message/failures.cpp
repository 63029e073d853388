// What becomes of operations when processes have failed or a communicator was revoked.
//
// A peer that has failed is closed for good: what waits to be sent to it ends, what has come from it may still be received, what would
// have to come does not. A long message whose receiver lives is taken back as a cancelled one is, within a node by its claim (claims.hpp);
// if the receiver has taken it there, it moves on, whatever became of its communicator.
#include <mpi-ext.h>

#include "base/node/heap.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/message/core.hpp"
#include "messaging/message/verdicts.hpp"

namespace heddle::message {

using lln::MessageKind;

namespace {

// More than a channel has slots, so that one look sees all that a peer has left there.
constexpr int everything = 2048;

}  // namespace

void Core::end_with(Request& request, int error, Wakeups& wakeups) {
  request.error = error;
  if (request.receives) request.order = 0;
  forget_claim(request);
  finish(request, wakeups);
}

bool Core::sweep(const Verdicts& verdicts, Wakeups& wakeups) {
  bool news = false;
  for (const int peer : verdicts.gone()) news |= !outbox_.is_closed(peer);
  if (news) (void)drain(everything, wakeups);
  for (const int peer : verdicts.gone()) {
    if (outbox_.is_closed(peer)) continue;
    route_.give_up(peer);
    while (outbox_.first_long(peer) != nullptr) outbox_.end_first_long(peer);
    outbox_.close(peer, [&](OutboxItem& item) {
      if (item.request != nullptr) end_with(*item.request, MPIX_ERR_PROC_FAILED, wakeups);
    });
  }
  outbox_.sift([&](const OutboxItem& item) {
    const int error =
        item.request != nullptr ? verdicts.of_send(item.request->context, item.request->peer) : MPI_SUCCESS;
    if (error != MPI_SUCCESS) end_with(*item.request, error, wakeups);
    return error == MPI_SUCCESS;
  });
  const bool complete = transfers_.abandon(verdicts, [&](Transfer& transfer) {
    using Role = Transfer::Role;
    if (transfer.eagerly && transfer.role == Role::packer) claims_.recycle(transfer.claim);
    if (transfer.role == Role::packer || transfer.role == Role::split_writer) return;  // its send has been announced
    end_with(*transfer.request, MPIX_ERR_PROC_FAILED, wakeups);
  });
  if (rank_.networks) sweep_streams(verdicts, wakeups);
  sweep_sends(verdicts, complete, wakeups);
  sweep_receives(verdicts, wakeups);
  sweep_unexpected(verdicts, wakeups);
  return complete;
}

// Sends that were announced and that their receivers have not confirmed. `all`: no thread is at work on one of them.
void Core::sweep_sends(const Verdicts& verdicts, bool all, Wakeups& wakeups) {
  for (auto next = announced_.begin(); next != announced_.end();) {
    Request& send = **next;
    ++next;
    const int error = verdicts.of_send(send.context, send.peer);
    if (error == MPI_SUCCESS) continue;
    if (verdicts.is_gone(send.peer)) {
      if (all) end_with(send, MPIX_ERR_PROC_FAILED, wakeups);
      continue;
    }
    if (route_.is_remote(send.peer)) {
      take_back(send, error, wakeups);
      continue;
    }
    if (send.order == node::nowhere || !claims_.withdraw(send.order)) continue;  // its receiver has it, and lives
    send.order = node::nowhere;
    end_with(send, error, wakeups);
  }
}

// Its receiver, which lives on another node, is told, and not waited for: its answer finds no send any more.
void Core::take_back(Request& send, int error, Wakeups& wakeups) {
  if (const std::uint64_t name = send.order; name != 0) send_retract(send, name, wakeups);
  end_with(send, error, wakeups);
}

// Long messages between nodes whose data are on their way. One that comes ends as a receive that has not met its message, since the sender may
// have taken it back; what still comes of it is dropped. One that goes to a living receiver goes on: it waits for nobody but the network.
void Core::sweep_streams(const Verdicts& verdicts, Wakeups& wakeups) {
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

void Core::sweep_receives(const Verdicts& verdicts, Wakeups& wakeups) {
  matcher_.sift(
      [&](Request& receive) -> int {
        const int error = verdicts.of_receive(receive.context, receive.source);
        if (error == MPIX_ERR_PROC_FAILED_PENDING) {
          tell_pending(receive, wakeups);
        } else if (error == MPI_SUCCESS) {
          // The failure has been acknowledged. A call that has seen the word asks resolve() what is true now.
          take_word_back(receive);
        } else {
          return error;
        }
        return MPI_SUCCESS;
      },
      [&](Request& receive, int error) { end_with(receive, error, wakeups); });
}

void Core::sweep_unexpected(const Verdicts& verdicts, Wakeups& wakeups) {
  const auto is_lost = [&](const Unexpected& m) {
    if (m.local != nullptr) return verdicts.of_send(m.local->context, m.local->peer) != MPI_SUCCESS;
    return m.header.kind == MessageKind::rts && verdicts.is_gone(m.sender);
  };
  matcher_.for_each_unexpected([&](Unexpected& message) {
    if (!is_lost(message)) return;
    Request* const send = message.local;
    matcher_.remove_unexpected(message);
    if (send == nullptr) decline(message);
    drop_unexpected(message);
    if (send != nullptr) end_with(*send, verdicts.of_send(send->context, send->peer), wakeups);
  });
}

// It stays posted, and a thread that waits for it goes on as if it were done. Nobody waits for one that was freed.
void Core::tell_pending(Request& receive, Wakeups& wakeups) {
  if (receive.owner == Owner::none || receive.done.load(std::memory_order_relaxed) != 0) return;
  receive.error = MPIX_ERR_PROC_FAILED_PENDING;
  tell(receive, told_pending, wakeups);
}

// `error` stays as it is until resolve(): a call that has seen the word finds an error in any case, and asks.
void Core::take_word_back(Request& receive) {
  if (receive.done.load(std::memory_order_relaxed) == told_pending) receive.done.store(0, std::memory_order_relaxed);
}

bool Core::disown(Request& request) {
  take_word_back(request);
  if (request.done.load(std::memory_order_relaxed) != 0) return true;
  request.owner = Owner::none;
  return false;
}

bool Core::resolve(Request& receive, bool at_its_end, Wakeups& wakeups) {
  if (receive.done.load(std::memory_order_relaxed) == 1) {  // a message has come after all
    if (receive.error == MPIX_ERR_PROC_FAILED_PENDING) receive.error = MPI_SUCCESS;
    return false;
  }
  // Else the failure has been acknowledged since, or a long message is just coming.
  const bool is_told = receive.done.load(std::memory_order_relaxed) == told_pending;
  take_word_back(receive);
  if (!at_its_end || !is_told || !matcher_.withdraw(receive)) return true;
  end_with(receive, MPIX_ERR_PROC_FAILED, wakeups);
  return false;
}

}  // namespace heddle::message
