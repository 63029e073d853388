// What a VNI holds, and what is done to it: posting, matching, arrival. Everything here runs under the protection of
// the VNI's protection (composed_vni.hpp), one thread at a time, except what says otherwise.
//
// The life of a short message: send → Endpoint::post → (other side) Endpoint::poll → arrive → Matcher → copy →
// finish. A long one travels by rendezvous: its slot carries an RTS, and once that has matched a Transfer moves
// the data outside the protection (transfer.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/instruments/cells.hpp"
#include "base/platform/native.hpp"
#include "base/safety/waiter.hpp"
#include "messaging/message/claims.hpp"
#include "messaging/message/incoming.hpp"
#include "messaging/message/matching.hpp"
#include "messaging/message/mode.hpp"
#include "messaging/message/outbox/outbox.hpp"
#include "messaging/message/request_cache.hpp"
#include "messaging/message/streams.hpp"
#include "messaging/message/transfer.hpp"
#include "network/names.hpp"
#include "network/route.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/request.hpp"

namespace heddle::boot {
class PeerMemory;
}
namespace heddle::progress {
class IdleCores;
}

namespace heddle::message {

class Verdicts;

// A send to another rank whose data can be taken at once.
struct SendArgs {
  lln::Header header;
  int peer;  // world rank
  const void* buffer;
  MPI_Count count;
  const Datatype& datatype;
  std::size_t bytes;
};

class Core {
 public:
  Core(Rank& rank, int vni, lln::Claiming claiming);
  ~Core();
  // The last step of making a VNI: from here on peers of other nodes send to it, and what they have sent would be lost with it. Throws
  // std::runtime_error of the network.
  void open_network(int vni);

  // Sends now if the message is short and the way is free.
  bool try_send(const SendArgs& args);
  // Any thread, unprotected, where claiming is concurrent: the same for a message that fits in a slot.
  bool inject(const SendArgs& args);
  // The first again, for a send whose caller goes on to something else: it may wait for others.
  bool try_isend(const SendArgs& args);
  // As inject, where claiming is by flux: for a message that fits in a fastbuffer.
  bool send_by_flux(const SendArgs& args);
  // Any thread: whether a send of so many bytes whose caller goes on is one of those that start_isend may leave to an idle core.
  bool is_left_to_idle_cores(std::size_t bytes) const { return bytes >= deferred_from_; }
  // The same thread, before it asks for the VNI's lock for start_isend: fetches together what an idle core has written last.
  void fetch_to_leave(const Request& request) const;
  // Any thread: whether others wait for this peer, behind which a send must stay. Then none of these four takes it.
  bool must_wait(int peer) const { return outbox_.must_wait(peer); }
  // Starts the send that the request describes; it finishes when the buffer may be used again.
  void start_send(Request& request, Wakeups& wakeups);
  // The same, or leaves it to an idle core if there is one (base/progress/idle_cores.hpp). Until it has left, later messages to
  // the same peer wait behind it, as they do behind one that has found its channel full.
  void start_isend(Request& request, Wakeups& wakeups);
  // Matches an unexpected message, or posts the receive.
  void start_recv(Request& request, Wakeups& wakeups);
  // Any thread, unprotected: posts a receive that no message waits for, as far as that goes beside others
  // (messaging/message/matching.hpp). What is left to do under the protection: start_recv, or match_announced.
  Matcher::Announcement announce_recv(Request& request) { return matcher_.announce(request); }
  void match_announced(const Request& announced, Hash hash, Wakeups& wakeups);
  // The caller waits for this receive, which is this VNI's.
  void expect(const Request& receive) { matcher_.expect(receive); }
  // Takes messages that have arrived, at most `most` of each peer, and sends what had to wait for room. Whether anything
  // moved. Throws std::bad_alloc where there is no memory for a message, which then stays where it is, for the next time.
  bool drain(int most, Wakeups& wakeups);

  // The oldest unexpected message that fits, or null. With `take` (matched probe) it leaves the queue, and only
  // start_matched_recv can get it.
  Unexpected* probe(std::uint64_t context, int source, int tag, bool take) {
    Unexpected* const message = matcher_.find_unexpected(context, source, tag);
    return message == nullptr ? nullptr : found(message, context, source, tag, take);
  }
  // The message has left its queue.
  void start_matched_recv(Request& request, Unexpected& message, Wakeups& wakeups);

  // Takes an operation back that has not been matched; whether that succeeded: it is then done and `cancelled`.
  bool cancel(Request& request, Wakeups& wakeups);

  // Goes through all that is under way after a failure, or when a communicator was revoked. False: a thread is at work on a transfer, and
  // it has to be done again. Throws std::bad_alloc where there is no memory for a message that has come.
  bool sweep(const Verdicts& verdicts, Wakeups& wakeups);
  // A receive of which MPIX_ERR_PROC_FAILED_PENDING was told: true if no message has come meanwhile; it is not done then and goes on.
  // With `at_its_end` it ends with MPIX_ERR_PROC_FAILED instead, unless its message is just coming, or the failure has been acknowledged
  // since (true).
  bool resolve(Request& receive, bool at_its_end, Wakeups& wakeups);
  // True if it is done; else it ends by itself when it is.
  static bool disown(Request& request);

  // An operation that was begun last found no memory: that is its error. In a handler of std::bad_alloc.
  void fail(Request& request, Wakeups& wakeups);
  // Something that had arrived found none, and waits. Ends the job when that has been so for long.
  void note_shortage();

  // Marks a request done and signals who waits for it.
  void finish(Request& request, Wakeups& wakeups);
  void signal(Waiter& waiter, Wakeups& wakeups);
  // Sets `done` and wakes whoever that concerns (Owner), whichever thread has completed the request and whatever it does next. finish() makes
  // the same decision in line.
  void tell(Request& request, std::uint32_t done, Wakeups& wakeups);

  // The last step of a transfer: tells the peer, finishes the request.
  void end_transfer(Transfer& transfer, Wakeups& wakeups);

  // A control message to a peer, kept until there is room.
  void send_control(int peer, const lln::Header& header, const void* payload, std::size_t bytes, Wakeups& wakeups);

  // Any thread, unprotected: whether drain or the transfers would find something.
  bool something_to_do() const { return route_.arrived() || transfers_.any() || any_unsent(); }
  // The same, but for what may have come by a network, which is no news to who has just looked.
  bool something_left() const { return route_.arrived_here() || transfers_.any() || any_unsent(); }
  std::uint32_t taken() const { return route_.taken(); }
  // Any thread, unprotected: whether sends wait, deferred or for room, or in a network for a poll.
  bool any_unsent() const { return outbox_.any() || route_.any_under_way(); }
  // The same: whether messages wait here that a poll would send.
  bool any_waiting() const { return outbox_.any(); }
  // The same: how often some that waited have left.
  std::uint32_t departures() const { return outbox_.departures(); }
  // Under the VNI's protection: a peer that has not taken what waits for it; -1: none is known.
  int slow_peer() const {
    int peer = route_.slow_peer();
    outbox_.for_each_peer([&](const OutboxPeer& one) { peer = one.peer; });
    return peer;
  }
  // Under the VNI's protection: a peer that something waits for here, of those that `concerns` names; -1: none.
  template <class F>
  int first_unsent(F&& concerns) const {
    int peer = -1;
    outbox_.for_each_peer([&](const OutboxPeer& one) {
      if (concerns(one.peer)) peer = one.peer;
    });
    return peer;
  }
  // From here on sends of `from` bytes and more may be left to idle cores, and no longer. No thread is sending.
  void begin_deferring(std::size_t from, progress::IdleCores& idle_cores);
  void end_deferring();
  // Wakes this rank's own threads that sleep on its doorbell, or else its helper: the caller has left work behind.
  void wake_blocked() { own_bell().wake_blocked(); }
  // The same with the VNI's lock held: once it is released.
  void wake_blocked(Wakeups& wakeups) { wakeups.add(own_bell()); }
  // Calls the rank's helper on idle cores if it listens and no thread of the program sleeps for the rank. Any thread.
  void call_progress_thread() {
    platform::Native::light_fence();
    node::Doorbell& bell = own_bell();
    if (bell.blocked.load(std::memory_order_relaxed) == node::Doorbell::progress_thread_listens) [[unlikely]]
      bell.ring();
  }
  // Those to whom something waits for room shall wake us, and what arrives by a network that rings no bell.
  void prepare_to_sleep();

  lln::Route& route() { return route_; }
  node::Heap& heap() { return route_.node().heap(); }
  boot::PeerMemory& peer_memory();
  bool survives_failures() const;
  Transfers& transfers() { return transfers_; }
  Outbox& outbox() { return outbox_; }
  // Whether messages of this rank are under way of which their receivers have to tell it something.
  bool has_announced() const { return claims_.in_use() != 0; }
  // Bytes that go to another node eagerly, or of a long message at once.
  std::size_t longest_away() const;
  instruments::Counters& counters() { return counters_; }
  std::atomic<std::uint32_t> probers{0};  // threads blocked in a probe; changed and read around the protection

 private:
  node::Doorbell& own_bell() { return route_.node().own_bell(); }

  void arrive(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  void arrive_remote(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes,
                     Wakeups& wakeups);
  void note_received(int sender, const std::byte* payload);
  void arrive_control(int sender, const lln::Header& header, const std::byte* payload, Wakeups& wakeups);
  void arrive_remote_control(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes,
                             Wakeups& wakeups);
  bool obey(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  bool may_be_late() const;
  bool take_answer(int sender, const Answer& answer, Wakeups& wakeups);
  [[noreturn]] void refuse(int sender, const lln::Header& header, std::size_t bytes);
  void keep(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes);
  void keep_on_credit(int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes);
  void reserve();
  static bool is_rts(const Unexpected& message);
  void start_unexpected_recv(Request& request, Unexpected& message, Wakeups& wakeups);
  void receive_eager(Request& request, Unexpected& message, Wakeups& wakeups);
  void fill(Request& receive, const std::byte* payload, std::size_t bytes, Wakeups& wakeups);
  void deliver(Request& receive, int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes,
               Wakeups& wakeups);
  void deliver_rts(Request& receive, int sender, const lln::Header& header, const std::byte* payload, std::size_t bytes,
                   Wakeups& wakeups);
  void send_to_self(Request& request, Wakeups& wakeups);
  void deliver_local(Request& receive, Request& send, Wakeups& wakeups);
  // A message is on its way; true.
  bool left(int peer) {
    if (instruments::Cell* cell = counters_.held()) [[unlikely]]
      count_sent(*cell, peer);
    return true;
  }
  void count_sent(instruments::Cell& cell, int peer);
  bool post_in_parts(SendArgs args);
  template <class User>
  bool post(const SendArgs& args, User);
  // What a send looks like on its way.
  struct Form {
    lln::Header header;
    std::size_t bytes;
  };
  class PeerPackets;
  static bool is_synchronous(const Request& send);
  static bool may_leave_early(const Request& send);
  bool goes_eagerly(const Request& send) const;
  bool waits_for_credit(const OutboxItem& item) const;
  static Form form_of(const Request& send, bool eagerly);
  void announce(Request& send);
  void note_announced(Request& send, lln::MessageKind kind);
  void finish_unwatched(Request& request, Wakeups& wakeups);
  void tell_waiter(Request& request, std::uint32_t done, Wakeups& wakeups);
  std::uint64_t name_for_receiver(Request& send);
  node::Offset claim_for_receiver(const Request& send) const;
  void write(Request& send, lln::MessageKind kind, std::byte* to);
  void has_left(Request& send, lln::MessageKind kind, Wakeups& wakeups);
  lln::Posted post_as(Request& send, const Form& form);
  Rts rts_of(Request& send);
  lln::Posted post_rts_here(Request& send, const lln::Header& header, Wakeups& wakeups);
  lln::Posted post_request(Request& send, Wakeups& wakeups);
  bool collects(int peer) const;
  bool is_held(int peer);
  void collect(Request& send, Wakeups& wakeups);
  bool may_be_deferred(const Request& request) const;
  std::size_t eager_limit(int peer) const;  // the longest message that is sent eagerly
  void append(int peer, OutboxItem& item, Wakeups& wakeups);
  bool flush_outbox(Wakeups& wakeups);
  bool post_item(int peer, const OutboxItem& item, Wakeups& wakeups);
  Unexpected* make_unexpected(int sender, const lln::Header& header, std::size_t payload_bytes);
  void add_unexpected(Unexpected& message);
  void drop_unexpected(Unexpected& message);
  void drop_payload(const Unexpected& message);
  void start_rts_recv(Request& request, Unexpected& first, Wakeups& wakeups);
  Unexpected* found(Unexpected* message, std::uint64_t context, int source, int tag, bool take);
  void end_with(Request& request, int error, Wakeups& wakeups);
  void sweep_sends(const Verdicts& verdicts, bool all, Wakeups& wakeups);
  void sweep_streams(const Verdicts& verdicts, Wakeups& wakeups);
  void take_back(Request& send, int error, Wakeups& wakeups);
  void sweep_receives(const Verdicts& verdicts, Wakeups& wakeups);
  void sweep_unexpected(const Verdicts& verdicts, Wakeups& wakeups);
  void tell_pending(Request& receive, Wakeups& wakeups);
  static void take_word_back(Request& receive);
  void decline(const Unexpected& message);
  void decline(int sender, const lln::Header& header, const std::byte* payload);
  bool receive(Unexpected& message);
  bool is_withdrawn(const Unexpected& message);
  bool withdraw(Request& send, Wakeups& wakeups);
  bool go_on_with_copy(Request& send, Wakeups& wakeups);
  void send_retract(const Request& send, std::uint64_t name, Wakeups& wakeups);
  void arrive_retract(int sender, const lln::Header& header, std::uint64_t name, Wakeups& wakeups);
  static std::uint64_t name_of_request(const lln::Header& header, const std::byte* payload);
  void forget_claim(Request& request);

  // Since when nothing has been taken for want of memory; any thread, unprotected.
  struct Shortage {
    std::atomic<std::int64_t> since{0};
    std::atomic<std::int64_t> last{0};
    std::atomic<std::uint32_t> taken{0};
  };

  Rank& rank_;
  lln::Route route_;
  Transfers transfers_;
  Streams streams_;
  Matcher matcher_;
  Claims claims_;
  // Sends that a receiver on another node has to answer.
  struct SentLinks {
    static std::uint64_t& name(Request& send) { return send.order; }
    static Request*& next(Request& send) { return send.next; }
  };
  lln::Names<Request, SentLinks> sent_;
  // In a job that survives failures: sends that their receivers have to confirm or, on another node, to answer.
  std::unordered_set<Request*> announced_;
  static constexpr std::uint32_t told_pending = 2;  // of Request::done
  instruments::Counters counters_;
  Unexpected* free_unexpected_ = nullptr;
  Shortage shortage_;
  Outbox outbox_;        // what has been deferred or found no room, or waits for company or its turn
  const bool collects_;  // for networks

  // Deferred submission: of so many bytes and more.
  std::size_t deferred_from_;
  progress::IdleCores* idle_cores_ = nullptr;
};

[[gnu::always_inline]] inline void Core::start_recv(Request& request, Wakeups& wakeups) {
  Unexpected* const message = matcher_.find_unexpected(request.context, request.source, request.tag);
  if (message == nullptr) [[likely]]
    return matcher_.post(request);
  start_unexpected_recv(request, *message, wakeups);
}

[[gnu::always_inline]] inline void Core::finish(Request& request, Wakeups& wakeups) {
  if (request.datatype != nullptr) release(*request.datatype);
  if (request.owner != Owner::program) [[unlikely]]
    return finish_unwatched(request, wakeups);
  tell_waiter(request, 1, wakeups);
}

[[gnu::always_inline]] inline void Core::tell_waiter(Request& request, std::uint32_t done, Wakeups& wakeups) {
  Waiter* const waiter = std::exchange(request.waiter, nullptr);
  request.done.store(done, std::memory_order_release);  // from here on the request is its owner's
  if (waiter != nullptr) signal(*waiter, wakeups);
}

}  // namespace heddle::message
