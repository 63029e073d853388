// A request: an operation that may not be complete yet (MPI 5.0, section 3.7).
//
// One type serves every kind. The differences between kinds (start, cancel, give back) are behind `type`, so that
// collectives, generalized and partitioned requests plug in from their own folders; the fast path of point-to-point
// never calls through it.
//
// Life: taken from the calling thread's cache, active until `done`, read by wait or test, given back. A persistent one
// alternates between inactive and active until it is freed. `done` is written last, with release, by the thread that
// completes the operation; until then every other field belongs to the library.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "launch/boot/wait_record.hpp"
#include "objects/object/error.hpp"
#include "objects/object/object.hpp"

namespace heddle {

struct Comm;
struct Datatype;
struct Request;
struct Waiter;  // a sleeping thread (base/safety/waiter.hpp)
namespace engine {
class Vni;
}
namespace message {
struct OutboxPeer;
}
namespace p2p {
class AnyTag;
}

// The actions of a kind of request beyond waiting for `done`. A null entry means that there is none.
struct RequestType {
  const char* name;
  Error (*start)(Request&);                // persistent: begin the next round
  Error (*cancel)(Request&);               // MPI_Cancel
  Error (*finish)(Request&, MPI_Status&);  // called once by the wait or test that sees `done` (grequest's query)
  Error (*destroy)(Request&);              // the kind's own state, before the request is given back; its error
                                           // (a user's free function) is that of the call that ends the request
  // The reported cause of a wait for it; its communicator is then the one of the request's context.
  boot::Awaited awaited = boot::Awaited::unknown;
  // All that the request needs has happened, and the next poll completes it: MPI_Test and its kind wait for that poll, which another thread
  // may have begun. Null: the kind is never in such a state.
  bool (*is_over)(const Request&) = nullptr;
};

// The owner of a request until it is done, and so the thread that is woken then (message::Completion).
enum class Owner : std::uint8_t {
  program,  // a thread that blocks until it is done is its `waiter`
  // a part of something that polls it (base/progress/pollables.hpp): a blocked thread of the rank is woken to poll that
  library,
  none,  // MPI_Request_free while active: the completing thread gives it back
};

// Point-to-point state of a receive.
struct ReceiveState {
  std::uint64_t age =
      0;  // of a posted one, to choose between an exact and a wildcard match; 0: it has ended without a message
  std::size_t message_bytes = 0;  // of a message that was truncated
};
// The order of a send after a send of the same thread through another VNI (messaging/p2p/lanes.hpp). All zero: none is needed.
struct SendOrder {
  std::uint64_t stamp = 0;                // the time of the change
  message::OutboxPeer* behind = nullptr;  // the send leaves after this queue has sent its entry `entry`
  std::uint32_t entry = 0;
};
// Point-to-point state of a send that its receiver has not confirmed yet.
struct SendState {
  std::uint64_t claim =
      0;  // to a rank of this node: where both ends claim the message (protocol/local/claims.hpp); or node::nowhere
  std::uint64_t name = 0;  // to another node: what the receiver's answer calls the send; 0: it is not to be answered
  SendOrder order;
};

struct Request final : Object {
  static constexpr Kind object_kind = Kind::request;
  Request() : Object(Kind::request) {}

  // First line: completion, and the fields that wait and test read.
  std::atomic<std::uint32_t> done{0};
  bool persistent = false;
  bool active = false;  // persistent only: started and not yet waited for
  bool cancelled = false;
  bool receives = false;  // a point-to-point receive: the status says source, tag and size
  Owner owner = Owner::program;
  int error = MPI_SUCCESS;
  int source = MPI_ANY_SOURCE;  // receive: what to match, then what matched. A collective's: unused
  int tag = MPI_ANY_TAG;
  std::size_t bytes = 0;  // receive: what arrived
  const RequestType* type = nullptr;
  Waiter* waiter = nullptr;    // the thread that blocks until this is done; with the VNI's lock held
  engine::Vni* vni = nullptr;  // the VNI of that lock; null: the rank's first

  // The operation.
  Comm* comm = nullptr;  // no reference: only for the error handler, and may be freed meanwhile
  std::uint64_t context = 0;
  void* buffer = nullptr;
  MPI_Count count = 0;
  const Datatype* datatype = nullptr;  // a reference while active
  std::size_t capacity = 0;            // bytes of the packed message: to send, or at most to receive
  int peer = MPI_PROC_NULL;            // send: destination's world rank
  std::uint32_t mode = 0;              // send: message::Mode

  // Lists that point-to-point keeps it in: posted receives, backlog, pending rendezvous.
  Request* next = nullptr;
  Request* prev = nullptr;
  Request* next_queue = nullptr;  // posted receives: messaging/message/queues.hpp
  union {
    ReceiveState receive{};
    SendState send;
  };

  std::atomic<p2p::AnyTag*> any_tag{nullptr};  // a receive that waits there (messaging/p2p/any_tag.hpp)
  void* state = nullptr;                       // of the kind: schedule, rendezvous, generalized request
};

}  // namespace heddle
