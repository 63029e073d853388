// The state of a VNI: it owns the parts, and passes each operation and each message to the protocol of its peer. All functions run with
// the VNI's lock held (engine/composed_vni.hpp), by one thread at a time, unless a comment says otherwise.
//
// The path of a short message: Outgoing::try_send → Route::post → (receiver) Route::poll → arrive → Matcher → Completion. A long message
// is announced (RTS). After the match its data move without the lock (protocol/local/) or in pieces (protocol/remote/).
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
  // More messages than the slots of a channel: a poll takes all that a peer has left in it.
  static constexpr int everything = 2048;

  VniState(const Context& context, int vni, lln::Claiming claiming);
  // The network goes first: until then it may move data of messages that are not complete.
  ~VniState() { route_.close(); }
  VniState(const VniState&) = delete;
  VniState& operator=(const VniState&) = delete;

  // ---- operations. When one throws std::bad_alloc, the caller ends it by fail().

  // Starts the send that the request describes; it completes when the buffer may be used again.
  void start_send(Request& request, Wakeups& wakeups);
  // The same for a nonblocking send: an idle core may copy its data (deferral.hpp), and to another node it may share a packet.
  void start_isend(Request& request, Wakeups& wakeups);
  // Matches an unexpected message, or posts the receive.
  [[gnu::always_inline]] void start_recv(Request& request, Wakeups& wakeups) {
    Unexpected* const message = matcher_.find_unexpected(request.context, request.source, request.tag);
    if (message == nullptr) [[likely]]
      return matcher_.post(request);
    start_unexpected_recv(request, *message, wakeups);
  }
  // Concludes an announcement after Matcher::announce has found the gate closed: matches receives with messages, or posts them.
  void match_announced(const Request& announced, Hash hash, Wakeups& wakeups);
  // The oldest unexpected message that fits, or null. With `take` (matched probe) it leaves the queue, and only
  // start_matched_recv can get it.
  [[gnu::always_inline]] Unexpected* probe(std::uint64_t context, int source, int tag, bool take) {
    Unexpected* const message = matcher_.find_unexpected(context, source, tag);
    return message == nullptr ? nullptr : found(message, {context, source, tag}, take);
  }
  void start_matched_recv(Request& request, Unexpected& message, Wakeups& wakeups);
  // Takes a posted receive away, to be posted elsewhere. False: it is not posted (any more).
  bool unpost(Request& receive) { return matcher_.withdraw(receive); }
  // Takes all messages of the context that have arrived and have no receive here, in order of their arrival (messaging/p2p/lanes.hpp).
  // They belong to the caller as after a probe with `take`. True: when the pass began, threads that had changed to another VNI had sent no
  // more messages here. `begins`: the pass begins. Throws std::bad_alloc: some may be left.
  bool take_all(std::uint64_t context, bool begins, lln::FunctionRef<void(Unexpected&)> take, Wakeups& wakeups);
  // Adds such a message to the unexpected ones again.
  void put_back(Unexpected& message);
  // Any thread. False: no message has ever come.
  bool is_in_use() const { return matcher_.any_unexpected() || route_.is_in_use(); }
  // Cancels an operation that has not been matched. True: it is complete and `cancelled`.
  bool cancel(Request& request, Wakeups& wakeups);
  // Ends an operation whose start has thrown std::bad_alloc, with that error. Called by the handler of the exception.
  void fail(Request& request, Wakeups& wakeups) { end_with(request, MPI_ERR_NO_MEM, wakeups); }

  // ---- progress

  // Takes messages that have arrived, at most `most` from each peer, and sends messages that wait in the outbox. True: something moved.
  // Throws std::bad_alloc if there is no memory for a message; the message stays in its channel for the next call.
  bool drain(int most, Wakeups& wakeups);
  // Completes the request of a transfer that has moved all its data.
  void end_transfer(Transfer& transfer, Wakeups& wakeups) { local_.end(transfer, wakeups); }
  // Any thread, without the lock. something_to_do: drain() or the transfers have work. something_begun: the same without arrivals.
  // any_unsent: sends wait in the outbox, or a network has messages that only a poll sends.
  bool something_to_do() const { return route_.arrived() || local_.transfers().any() || any_unsent(); }
  bool something_begun() const { return local_.transfers().any() || any_unsent(); }
  bool any_unsent() const { return outgoing_.outbox().any() || route_.any_under_way(); }
  // A peer that has not taken the messages that wait for it; -1: none is known.
  int slow_peer() const;
  // A thread is about to block. Requests a wake-up from peers whose channels are full, and from networks that ring no doorbell.
  void prepare_to_sleep();

  // ---- failures

  // Applies the verdicts to all incomplete operations. False: a thread is working on a transfer, and the caller has to call it again.
  // Throws std::bad_alloc if there is no memory for a message that has arrived.
  bool sweep(const Verdicts& verdicts, Wakeups& wakeups);
  // Decides about a receive that MPIX_ERR_PROC_FAILED_PENDING was reported for. True: the receive is not complete, and stays posted. With
  // `at_its_end` it ends with MPIX_ERR_PROC_FAILED instead, unless its message is arriving or the failure has been acknowledged since.
  bool resolve(Request& receive, bool at_its_end, Wakeups& wakeups);
  // The request's owner gives it up. True: it is complete. False: it is released when it completes.
  static bool disown(Request& request);

  // ---- parts

  const Parts& parts() const { return parts_; }
  Deferral& deferral() { return deferral_; }
  Transfers& transfers() { return local_.transfers(); }
  Shortage& shortage() { return shortage_; }
  // The bytes of the node's memory that it keeps when no message is under way, but for channels and fluxes.
  std::size_t node_memory() { return local_.node_memory(); }

 private:
  bool is_held_back(const Request& send);
  void arrive_with_stamp(int sender, lln::Header header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  void arrive(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  void start_unexpected_recv(Request& request, Unexpected& message, Wakeups& wakeups);
  void receive_eager(Request& request, Unexpected& message, Wakeups& wakeups);
  Unexpected* found(Unexpected* message, const Envelope& asked, bool take);
  void receive_announced(Request& request, Unexpected& first, Wakeups& wakeups);
  void reserve();
  bool claim(Unexpected& message);
  bool is_withdrawn(const Unexpected& message);

  // Calls f(protocols) with the protocols for a peer on this node, or on another one. The protocols do not check the peer again.
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
  void flush_what_has_memory(Wakeups& wakeups);
  void wake_follower(Wakeups& wakeups);

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
