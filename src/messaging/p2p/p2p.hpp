// Point-to-point communication for the rest of the library: called by the binding's MPI_Send and the like, collectives
// and the creation of communicators. Arguments are checked by then.
//
// Any thread may call anything here; nothing here is called while a VNI is held.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "base/node/heap.hpp"
#include "base/progress/pollables.hpp"
#include "launch/boot/wait_record.hpp"
#include "messaging/message/mode.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/request.hpp"

namespace heddle {
struct Datatype;
struct Rank;
}  // namespace heddle

namespace heddle::p2p {

// Blocking. `peer` is a rank of the group that the communicator sends to, or MPI_PROC_NULL; recv also takes
// MPI_ANY_SOURCE and MPI_ANY_TAG, and a null status. Truncation is an MPI_ERR_TRUNCATE.
Error send(Comm& comm, Plane plane, const void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag,
           message::Mode mode = message::Mode::standard);
Error recv(Comm& comm, Plane plane, void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag,
           MPI_Status* status = nullptr);

// Nonblocking. The request is the caller's: wait for it, or test it until it is done, then give_back() it. A send that
// is complete at once may return the rank's one always-done request, which waits, tests and gives back like any other.
// A part of the library polls it: a blocked thread of the rank is woken when it is done (Owner::library).
Request& isend(Comm& comm, Plane plane, const void* buffer, MPI_Count count, const Datatype& datatype, int peer,
               int tag, message::Mode mode = message::Mode::standard);
Request& irecv(Comm& comm, Plane plane, void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag);

// Such a request unless there was no memory to begin it: then nothing has been sent or taken, it is given back, and
// std::bad_alloc is thrown, so that the operation can be begun again.
Request& begun(Request& request);

// Blocks until done; the error is the operation's. The request is not given back.
Error wait(Request& request);
// Blocks until all of them are done; the first error, if any.
Error wait_all(Request* const* requests, std::size_t n);
// One attempt to progress if it is not done yet.
bool test(Request& request);
// Ends the life of a request that is done (or gives it back when it becomes done).
void give_back(Request& request);

// A new request of another kind (collective, generalized), from the calling thread's cache.
Request& take_request(const RequestType& type);
// Marks such a request done and wakes its blocked thread. Any thread, VNI not held. The error of a request that the
// user had freed is lost: no thread waits for it.
void complete(Request& request);

// One attempt to move everything: arrived messages, backlog, schedules; true if anything moved. `needed`: the request
// that the caller waits for, or null for another condition.
bool progress(Rank& rank, const Request* needed = nullptr);
void tested_in_vain(Rank& rank, bool moved);
// True if a condition holds, after an attempt to progress if it does not: MPI_Test and its kind.
template <class F>
bool test(Rank& rank, const Request* needed, F&& holds) {
  if (holds()) return true;
  const bool moved = progress(rank, needed);
  if (holds()) return true;
  tested_in_vain(rank, moved);
  return false;
}
// For calls that are complete in any case: makes no system call and never waits.
void poll_once(Rank& rank);

// Memory that every rank of the job sees, and waiting for stores of others there: until `holds()` is true, with
// progress meanwhile, first spinning and then blocked. The thread that makes it true calls notify(world rank) after its
// store. `wait` describes it in the report of a job that hangs.
node::Heap& shared_memory(Rank& rank);
bool is_on_this_node(const Comm& comm, int peer);
// True if all ranks that the communicator sends to are on our node.
bool is_on_one_node(const Comm& comm);
void wait_until(Rank& rank, bool (*holds)(const void*), const void* what, const boot::Wait& wait);
template <class F>
void wait_until(Rank& rank, const boot::Wait& wait, const F& holds) {
  if (holds()) return;
  wait_until(
      rank, [](const void* f) { return (*static_cast<const F*>(f))(); }, &holds, wait);
}
void notify(Rank& rank, int world_rank);

// The number of the VNI that carries a communicator's messages, no_vni or over_lanes (base/instruments/counter_registry.hpp).
int vni_in_figures(const Comm& comm);

// Cancels a send or receive; true if it took effect (it is then done and `cancelled`).
bool cancel(Request& request);

// Before the end of a call after which this rank may poll no longer: blocks until no message waits for room at a member
// of the communicator.
void send_deferred(const Comm& comm);

// From begin_serving() to end_serving() this rank makes progress also while none of its threads is in a call (engine.hpp).
void begin_serving(Rank& rank);
void end_serving(Rank& rank);

// From now on every progress pass polls it (pollables.hpp).
void start_polling(Rank& rank, progress::Pollable& work);

}  // namespace heddle::p2p
