// Point-to-point requests for the MPI calls of this folder; the rest of the library uses p2p.hpp.
#pragma once

#include "messaging/p2p/lanes.hpp"
#include "messaging/p2p/p2p.hpp"

namespace heddle::p2p {

// The VNI that carries a message of a communicator, and its receive. Communicators go round: consecutive contexts are
// on consecutive VNIs, on every member alike. If all members have asserted to receive by tag, or by source, then the
// program's messages of one communicator go round too: those that may have to be matched in order share both and so a
// VNI. Found with the first message, since the context of a duplicate may become known after its handle.
// On one node the messages are spread by tag without assertions, too (lanes.hpp).
engine::Vni& choose_vni(Comm& comm, Plane plane, int source, int tag);
inline engine::Vni& vni_of(Comm& comm, Plane plane, int source, int tag) {
  engine::Vni* vni = comm.vni.load(std::memory_order_acquire);  // a requested one is made by its first message
  if (vni != nullptr) return *vni;
  if (const Lanes* const lanes = comm.lanes.load(std::memory_order_acquire))
    return is_over_lanes(plane) ? lanes->of(comm, tag) : lanes->of(comm, 0);
  return choose_vni(comm, plane, source, tag);
}

// A request that describes an operation which has not been started. `peer` is not MPI_PROC_NULL.
Request& send_request(Comm& comm, Plane plane, const void* buffer, MPI_Count count, const Datatype& datatype, int peer,
                      int tag, message::Mode mode);
Request& recv_request(Comm& comm, Plane plane, void* buffer, MPI_Count count, const Datatype& datatype, int peer,
                      int tag);
// A completed one: the request of a communication with MPI_PROC_NULL.
Request& null_request(bool receive);

// give_back() for a call of the user's, which returns the error of the request's kind at its end.
Error end(Request& request);

// One that could not be started.
void give_back_unstarted(Request& request);

// For a request that is not done: true if it is over by its kind (RequestType::is_over), and now done.
bool ends_now(Request& request);

// The error of a request that is done, with its sentence.
Error explain(const Request& request);

// For a request that the caller has seen done, with an error: true if it goes on nevertheless, being a receive with
// MPIX_ERR_PROC_FAILED_PENDING, also if another thread has acknowledged the failure since. False: it is done, with
// another error or none. A blocking call does not leave it pending: it ends then, with MPIX_ERR_PROC_FAILED; true: not
// yet, its message is just coming, or the failure has been acknowledged.
bool is_pending(Request& request);
bool goes_on_at_its_end(Request& receive);
// wait() for a receive of a blocking call.
Error wait_to_the_end(Request& receive);

}  // namespace heddle::p2p
