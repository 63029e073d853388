// A virtual network interface: an independent communication context of a rank, with its endpoints, matching state and
// safety model. The virtual calls here are the one indirection on the way of a message; behind each, everything is
// composed by the compiler (guarded_vni.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "instruments/counters.hpp"
#include "lln/shm/heap.hpp"
#include "object/request.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::p2p {

struct SendArgs;
struct Unexpected;

// What a probe learns of a message.
struct Probed {
  int source;
  int tag;
  std::size_t bytes;
};

class Vni {
 public:
  virtual ~Vni() = default;

  // Sends now if that needs no waiting and no request; false: use start_send.
  virtual bool try_send(const SendArgs& args) = 0;
  virtual void start_send(Request& request) = 0;
  virtual void start_recv(Request& request) = 0;

  // Looks for an unexpected message after one attempt to progress. With `take` the message leaves the queue and only
  // start_matched_recv of the pointer that comes back gets it.
  virtual Unexpected* probe(std::uint64_t context, int source, int tag, bool take, Probed& found) = 0;
  // The same, blocking until there is one.
  virtual Unexpected* wait_probe(std::uint64_t context, int source, int tag, bool take, Probed& found) = 0;
  virtual void start_matched_recv(Request& request, Unexpected& message) = 0;

  virtual bool cancel_recv(Request& request) = 0;
  // Marks a request of another kind done; if its owner has given it up, ends it, and the error is its kind's.
  virtual Error complete(Request& request) = 0;
  // The owner gives up an operation that may be under way; true if it was already done (then the owner gives it back).
  virtual bool disown(Request& request) = 0;

  // Blocks until all of them (or one, if `any`) are done. Null entries do not count.
  virtual void wait(Request* const* requests, std::size_t n, bool any) = 0;
  // Blocks until a condition over shared memory holds, progressing meanwhile. Whoever makes it true calls notify of
  // this rank after its store.
  virtual void wait_until(bool (*holds)(const void*), const void* what) = 0;
  virtual void notify(int world_rank) = 0;
  virtual lln::shm::Heap& shared_memory() = 0;

  // One pass over what can move; whether anything did.
  virtual bool progress() = 0;

  virtual const char* model() const = 0;
  virtual instruments::Counters& counters() = 0;
};

// The VNI of a rank under the model that HEDDLE_MODEL names. Null, with a sentence in error_detail(), if there is no
// such model.
Vni* make_vni(Rank& rank);

}  // namespace heddle::p2p
