// A virtual network interface: an independent communication context of a rank, with its ways to peers, matching state and
// protection. The virtual calls here are the one indirection on the way of a message; behind each, everything is
// composed by the compiler (composed_vni.hpp).
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

// What a probe learns of a message.
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

  // Sends now if that needs no waiting and no request; false: use start_send.
  virtual bool try_send(const message::SendArgs& args) = 0;
  virtual void start_send(Request& request) = 0;
  // The same for a caller that goes on to something else: the send may be deferred (base/progress/idle_cores.hpp).
  virtual bool try_isend(const message::SendArgs& args) = 0;
  virtual void start_isend(Request& request) = 0;
  virtual void start_recv(Request& request) = 0;

  // Looks for an unexpected message. With `take` the message leaves the queue and only start_matched_recv of the
  // pointer that comes back gets it.
  virtual message::Unexpected* probe(std::uint64_t context, int source, int tag, bool take, Probed& found) = 0;
  virtual void start_matched_recv(Request& request, message::Unexpected& message) = 0;
  // From the first of these to the last, every unexpected message rings the rank's doorbell: a thread that sleeps in
  // a probe has no request that could be completed.
  virtual void begin_probing() = 0;
  virtual void end_probing() = 0;

  // Takes an operation back that has not been matched; whether that succeeded.
  virtual bool cancel(Request& request) = 0;
  // Marks a request of another kind done; if its owner has given it up, ends it, and the error is its kind's.
  virtual Error complete(Request& request) = 0;
  // The owner gives up an operation that may be under way; true if it was already done (then the owner gives it back).
  virtual bool disown(Request& request) = 0;

  // After a failure (messaging/message/failures.cpp): goes through everything; false: to be done again. And a receive of which
  // MPIX_ERR_PROC_FAILED_PENDING was told (VniState::resolve).
  virtual bool sweep(const message::Verdicts& verdicts) = 0;
  virtual bool resolve(Request& receive, bool at_its_end) = 0;

  virtual instruments::Counters& counters() = 0;

  // ---- for the engine

  virtual message::VniState& state() = 0;
  // Any thread, unprotected: whether a look would find something; whether sends wait, and how many messages were taken.
  virtual bool something_to_do() const = 0;
  // The same, but for what may have come by a network since it was last looked at.
  virtual bool something_left() const = 0;
  virtual bool any_unsent() const = 0;
  // The same: whether messages wait to be sent that a poll would send, for room or for company.
  virtual bool any_waiting() const = 0;
  // The same: how often some of these have left.
  virtual std::uint32_t departures() const = 0;
  virtual std::uint32_t taken() const = 0;
  // One attempt to move everything.
  virtual progress::PollResult poll(const PollMode& how) = 0;
  // Adds its requests of the set that are not done to `wait`, and registers the waiter with them; those that are done signal it
  // at once. Null: nobody is registered. And forgets it.
  virtual void expect(WaitSet& set, Waiter* waiter, boot::Wait& wait) = 0;
  virtual void forget(WaitSet& set) = 0;
  // Before sleeping: those whose channels are full shall wake us.
  virtual void prepare_to_sleep() = 0;
  // Nobody may poll any longer once any_unsent() holds no more.
  virtual void flush() = 0;
  // A peer that has not taken what was sent to it; -1: none is known.
  virtual int slow_peer() = 0;
  // Whether something waits to be sent to a peer that `concerns` names.
  virtual bool is_anything_unsent(lln::FunctionRef<bool(int)> concerns) = 0;

 private:
  int index_;
};

}  // namespace heddle::engine
