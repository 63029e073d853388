// A virtual network interface: an independent communication context of a rank, with its own routes to peers, matching state and lock. The
// virtual calls here are the only indirection on the critical path of a message. Behind each, the compiler composes everything
// (composed_vni.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/instruments/counters.hpp"
#include "base/progress/poll_result.hpp"
#include "launch/boot/wait_record.hpp"
#include "messaging/engine/poll_mode.hpp"
#include "network/function_ref.hpp"
#include "network/network.hpp"
#include "objects/object/error.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {
class VniState;
struct SendArgs;
struct Unexpected;
class Verdicts;
}  // namespace heddle::message

namespace heddle::engine {

class WaitSet;

// The envelope and size of a probed message.
struct Probed {
  int source;
  int tag;
  std::size_t bytes;
};

class Vni {
 public:
  explicit Vni(int index) : index_(index) {}
  virtual ~Vni() = default;

  int index() const { return index_; }

  // Sends now if that needs neither waiting nor a request. False: the caller has to use start_send.
  virtual bool try_send(const message::SendArgs& args) = 0;
  virtual void start_send(Request& request) = 0;
  // The same for a nonblocking send, which may be deferred (base/progress/idle_cores.hpp).
  virtual bool try_isend(const message::SendArgs& args) = 0;
  virtual void start_isend(Request& request) = 0;
  virtual void start_recv(Request& request) = 0;

  // Searches for an unexpected message. With `take` the message leaves the queue; only start_matched_recv with the returned pointer
  // receives it.
  virtual message::Unexpected* probe(std::uint64_t context, int source, int tag, bool take, Probed& found) = 0;
  virtual void start_matched_recv(Request& request, message::Unexpected& message) = 0;
  // Between the first begin_probing() and the last end_probing() every unexpected message rings the rank's doorbell: a thread that blocks
  // in a probe has no request that could complete.
  virtual void begin_probing() = 0;
  virtual void end_probing() = 0;

  // ---- for communicators whose messages are spread over several VNIs (messaging/p2p/lanes.hpp)

  // try_send for a message with a stamp, to a peer of this node.
  virtual bool try_stamped(const message::SendArgs& args, std::uint64_t stamp) = 0;
  // Takes a posted receive away, so that it can be posted elsewhere. False: it is not posted (any more).
  virtual bool unpost(Request& receive) = 0;
  // Takes all messages of the context that have arrived and have no receive here, in order of arrival, as a probe with `take` does. The
  // VNI's lock is held during the calls. True: all have been taken that VniState::take_all describes.
  virtual bool take_all(std::uint64_t context, bool begins, lln::FunctionRef<void(message::Unexpected&)> take) = 0;
  // Returns when the operations that the calling thread has submitted so far are executed.
  virtual void finish_submissions() = 0;
  // Adds such a message to the unexpected ones again.
  virtual void put_back(message::Unexpected& message) = 0;
  // Any thread: false if no message has ever come.
  virtual bool is_in_use() const = 0;

  // Cancels an operation that has not been matched. True: it is cancelled.
  virtual bool cancel(Request& request) = 0;
  // Marks a request of another kind done. If its owner has disowned it, destroys it and returns the error of its kind.
  virtual Error complete(Request& request) = 0;
  // The owner gives up an operation that may be under way. True: it was done already, and the owner has to release it.
  virtual bool disown(Request& request) = 0;

  // After a failure (messaging/message/failures.cpp): applies the verdicts to all operations. False: the caller has to call it again.
  // @70+ For a receive that MPIX_ERR_PROC_FAILED_PENDING was reported for (VniState::resolve).
  virtual bool sweep(const message::Verdicts& verdicts) = 0;
  virtual bool resolve(Request& receive, bool at_its_end) = 0;

  virtual instruments::Counters& counters() = 0;

  // ---- for the engine

  virtual message::VniState& state() = 0;
  // The next functions are for any thread, without the lock. True if a poll would find work.
  virtual bool something_to_do() const = 0;
  // The same without arrivals. @81+ True if sends wait.
  virtual bool something_begun() const = 0;
  virtual bool any_unsent() const = 0;
  // True if messages in the outbox wait, for room or to share a packet, which a poll would send.
  virtual bool any_waiting() const = 0;
  // The number of times that messages have left the outbox. @86+ The number of messages taken.
  virtual std::uint32_t departures() const = 0;
  virtual std::uint32_t taken() const = 0;
  // One attempt to progress everything of this VNI.
  virtual progress::PollResult poll(const PollMode& how) = 0;
  // Adds the VNI's requests of the set that are not done to `wait`, and registers `waiter` with them. Requests that are done signal it at
  // once. Null: registers no waiter. forget() removes the registration.
  virtual void expect(WaitSet& set, Waiter* waiter, boot::Wait& wait) = 0;
  virtual void forget(WaitSet& set) = 0;
  // Before blocking: requests a wake-up from peers whose channels are full.
  virtual void prepare_to_sleep() = 0;
  // From this call on any_unsent() is true until the networks have sent all messages. After that no thread needs to poll.
  virtual void flush() = 0;
  // A peer that has not taken the messages sent to it; -1: none is known.
  virtual int slow_peer() = 0;
  // True if a message waits to be sent to a peer for which `concerns` holds.
  virtual bool is_anything_unsent(lln::FunctionRef<bool(int)> concerns) = 0;

 private:
  int index_;
};

}  // namespace heddle::engine
