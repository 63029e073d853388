// What a VNI holds: it owns the parts, and hands each operation and each message to the protocol of its peer. Everything here runs with the VNI's
// lock held (engine/composed_vni.hpp), one thread at a time, except what says otherwise.
//
// The life of a short message: Outgoing::try_send → Route::post → (other side) Route::poll → arrive → Matcher → Completion. A long one is
// announced (RTS), and once that has matched its data move without the lock (protocol/local/) or in pieces (protocol/remote/).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/instruments/cells.hpp"
#include "base/safety/waiter.hpp"
#include "messaging/message/completion.hpp"
#include "messaging/message/context.hpp"
#include "messaging/message/deferral.hpp"
#include "messaging/message/matching.hpp"
#include "messaging/message/outgoing.hpp"
#include "messaging/message/protocol/local/local.hpp"
#include "messaging/message/protocol/remote/remote.hpp"
#include "messaging/message/protocol/self.hpp"
#include "messaging/message/shortage.hpp"
#include "messaging/message/unexpected_store.hpp"
#include "network/route.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

class Verdicts;

class VniState {
 public:
  VniState(const Context& context, int vni, lln::Claiming claiming);
  VniState(const VniState&) = delete;
  VniState& operator=(const VniState&) = delete;

  // ---- operations. They throw std::bad_alloc, and then fail() is their end.

  // Starts the send that the request describes; it completes when the buffer may be used again.
  void start_send(Request& request, Wakeups& wakeups);
  // The same for a send whose caller goes on to something else: an idle core may copy its data (deferral.hpp), and to another node it may leave
  // with others.
  void start_isend(Request& request, Wakeups& wakeups);
  // Matches an unexpected message, or posts the receive.
  [[gnu::always_inline]] void start_recv(Request& request, Wakeups& wakeups) {
    Unexpected* const message = matcher_.find_unexpected(request.context, request.source, request.tag);
    if (message == nullptr) [[likely]]
      return matcher_.post(request);
    start_unexpected_recv(request, *message, wakeups);
  }
  // What is left to do with the lock held after Matcher::announce has found messages: or start_recv.
  void match_announced(const Request& announced, Hash hash, Wakeups& wakeups);
  // The oldest unexpected message that fits, or null. With `take` (matched probe) it leaves the queue, and only
  // start_matched_recv can get it.
  [[gnu::always_inline]] Unexpected* probe(std::uint64_t context, int source, int tag, bool take) {
    Unexpected* const message = matcher_.find_unexpected(context, source, tag);
    return message == nullptr ? nullptr : found(message, {context, source, tag}, take);
  }
  void start_matched_recv(Request& request, Unexpected& message, Wakeups& wakeups);
  // Takes an operation back that has not been matched; whether that succeeded: it is then done and `cancelled`.
  bool cancel(Request& request, Wakeups& wakeups);
  // An operation that was begun last found no memory: that is its error. In a handler of std::bad_alloc.
  void fail(Request& request, Wakeups& wakeups) { end_with(request, MPI_ERR_NO_MEM, wakeups); }

  // ---- progress

  // Takes messages that have arrived, at most `most` of each peer, and sends what had to wait for room. Whether anything
  // moved. Throws std::bad_alloc where there is no memory for a message, which then stays where it is, for the next time.
  bool drain(int most, Wakeups& wakeups);
  // The last step of a transfer.
  void end_transfer(Transfer& transfer, Wakeups& wakeups) { local_.end(transfer, wakeups); }
  // Any thread, without the lock: whether drain or the transfers would find something; the same, but for what may have come by a network; and
  // whether sends wait, deferred or for room, or in a network for a poll.
  bool something_to_do() const { return route_.arrived() || local_.transfers().any() || any_unsent(); }
  bool something_left() const { return route_.arrived_here() || local_.transfers().any() || any_unsent(); }
  bool any_unsent() const { return outgoing_.outbox().any() || route_.any_under_way(); }
  // A peer that has not taken what waits for it; -1: none is known.
  int slow_peer() const;
  // A thread is about to block: peers that something waits for room for wake it, and what arrives by a network that rings no bell.
  void prepare_to_sleep();

  // ---- failures

  // Goes through all that is under way after a failure, or when a communicator was revoked. False: a thread is at work on a transfer, and
  // it has to be done again. Throws std::bad_alloc where there is no memory for a message that has come.
  bool sweep(const Verdicts& verdicts, Wakeups& wakeups);
  // A receive that MPIX_ERR_PROC_FAILED_PENDING was reported for: true if no message has come meanwhile; it is not done then and goes on.
  // With `at_its_end` it ends with MPIX_ERR_PROC_FAILED instead, unless its message is just coming, or the failure has been acknowledged
  // since (true).
  bool resolve(Request& receive, bool at_its_end, Wakeups& wakeups);
  // True if the request is done; else it ends by itself when it is.
  static bool disown(Request& request);

  // ---- parts

  const Parts& parts() const { return parts_; }
  Deferral& deferral() { return deferral_; }
  Transfers& transfers() { return local_.transfers(); }
  Shortage& shortage() { return shortage_; }

 private:
  void arrive(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  void start_unexpected_recv(Request& request, Unexpected& message, Wakeups& wakeups);
  void receive_eager(Request& request, Unexpected& message, Wakeups& wakeups);
  Unexpected* found(Unexpected* message, const Envelope& asked, bool take);
  void receive_announced(Request& request, Unexpected& first, Wakeups& wakeups);
  void reserve();
  bool claim(Unexpected& message);
  bool is_withdrawn(const Unexpected& message);

  // f(protocols) for a peer on this node or on another one: here it is decided, and they do not ask again.
  template <class F>
  auto by_protocol_of(int peer, F&& f) {
    return route_.is_remote(peer) ? f(remote_) : f(local_);
  }
  bool is_self(const Request& send) const { return send.peer == context_.world_rank; }
  template <class Protocols>
  void start(Protocols& protocols, Request& send, Wakeups& wakeups);
  void collect(Request& send, Wakeups& wakeups);
  bool may_be_deferred(const Request& send) const;
  template <class Protocols>
  void defer(Protocols& protocols, Request& send, Wakeups& wakeups);
  class LocalPackets;
  class RemotePackets;
  LocalPackets packets_of(LocalProtocols& protocols, int peer, Wakeups& wakeups);
  RemotePackets packets_of(RemoteProtocols& protocols, int peer, Wakeups& wakeups);
  bool flush_outbox(Wakeups& wakeups);

  bool withdraw(Request& send, Wakeups& wakeups);
  void end_with(Request& request, int error, Wakeups& wakeups);
  void close_peers(const Verdicts& verdicts, Wakeups& wakeups);
  void sweep_receives(const Verdicts& verdicts, Wakeups& wakeups);
  void sweep_unexpected(const Verdicts& verdicts, Wakeups& wakeups);
  void report_pending(Request& receive, Wakeups& wakeups);

  const Context context_;
  instruments::Counters counters_;
  lln::Route route_;
  Completion completion_;
  Matcher matcher_;
  UnexpectedStore unexpected_;
  Outgoing outgoing_;
  const Parts parts_;
  SelfProtocol self_;
  LocalProtocols local_;
  RemoteProtocols remote_;
  Deferral deferral_;
  Shortage shortage_;
};

}  // namespace heddle::message
