// How a message begins, from the arguments of the call to the VNI: all in one piece, for the calls on the critical path
// of messages. The rest of the library calls the functions of p2p.hpp that are made of these.
#pragma once

#include "base/instruments/cells.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/engine/vni.hpp"
#include "messaging/message/mode.hpp"
#include "messaging/message/outgoing.hpp"
#include "messaging/message/request_cache.hpp"
#include "messaging/p2p/requests.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle::p2p {

using Try = bool (engine::Vni::*)(const message::SendArgs&);

inline std::uint64_t context_of(const Comm& comm, Plane plane) {
  return comm.context | static_cast<std::uint64_t>(plane);
}

// A request of an operation that has not been started.
[[gnu::always_inline]] inline Request& describe(Comm& comm, Plane plane, engine::Vni& vni, const void* buffer,
                                                MPI_Count count, const Datatype& datatype, int source, int tag) {
  Request& request = message::take_request();
  request.comm = &comm;
  request.vni = &vni;
  request.context = context_of(comm, plane);
  request.buffer = const_cast<void*>(buffer);
  request.count = count;
  request.datatype = &datatype;
  request.capacity = packed_size(datatype, count);
  request.source = source;
  request.tag = tag;
  retain(datatype);
  return request;
}

// Counts the program's use of a communicator; collectives count their own.
[[gnu::always_inline]] inline void count_use(Comm& comm, Plane plane, instruments::Count what) {
  if (instruments::counting() && plane == Plane::user) [[unlikely]]
    instruments::count(comm.counters, what);
}

// The order of the next message after the calling thread's last one to the same rank. Its VNI is known by then.
[[gnu::always_inline]] inline SendOrder order_of_send(const Comm& comm, Plane plane, int peer, int tag) {
  const Lanes* const lanes = lanes_of(comm, plane);
  if (lanes == nullptr) [[likely]]
    return {};
  return order_on_lane(comm, *lanes, comm.world_rank(peer), tag);
}

// True if the message left without needing a request.
template <Try attempt>
[[gnu::always_inline]] inline bool send_at_once(Comm& comm, Plane plane, const void* buffer, MPI_Count count,
                                                const Datatype& datatype, int peer, int tag, message::Mode mode,
                                                engine::Vni& vni, const SendOrder& order) {
  const int to = comm.world_rank(peer);
  if (mode == message::Mode::synchronous || to == comm.owner->world_rank) return false;
  const message::SendArgs args{{lln::MessageKind::eager, comm.rank, tag, context_of(comm, plane)},
                               to,
                               buffer,
                               count,
                               datatype,
                               packed_size(datatype, count)};
  if (order.stamp != 0) [[unlikely]]
    return order.behind == nullptr && vni.try_stamped(args, order.stamp);
  return (vni.*attempt)(args);
}

// Where the messages of the communicator have several VNIs, or none yet.
template <Try attempt, void (engine::Vni::*start)(Request&)>
[[gnu::noinline]] Request& begin_send_on_lane(Comm& comm, Plane plane, const void* buffer, MPI_Count count,
                                              const Datatype& datatype, int peer, int tag, message::Mode mode,
                                              Owner owner) {
  engine::Vni& vni = vni_of(comm, plane, comm.rank, tag);
  const SendOrder order = order_of_send(comm, plane, peer, tag);
  if (send_at_once<attempt>(comm, plane, buffer, count, datatype, peer, tag, mode, vni, order)) [[likely]]
    return *comm.owner->sent;
  Request& request = send_request(comm, plane, buffer, count, datatype, peer, tag, mode);
  request.send.order = order;
  if (owner != Owner::program) request.owner = owner;
  (request.vni->*start)(request);
  return request;
}

template <Try attempt, void (engine::Vni::*start)(Request&)>
[[gnu::always_inline]] inline Request& begin_send(Comm& comm, Plane plane, const void* buffer, MPI_Count count,
                                                  const Datatype& datatype, int peer, int tag, message::Mode mode,
                                                  Owner owner) {
  if (peer == MPI_PROC_NULL) [[unlikely]]
    return null_request(false);
  count_use(comm, plane, instruments::Count::sends);
  engine::Vni* const vni = comm.vni.load(std::memory_order_acquire);
  if (vni == nullptr) [[unlikely]]
    return begin_send_on_lane<attempt, start>(comm, plane, buffer, count, datatype, peer, tag, mode, owner);
  if (send_at_once<attempt>(comm, plane, buffer, count, datatype, peer, tag, mode, *vni, {})) [[likely]]
    return *comm.owner->sent;
  Request& request = send_request(comm, plane, buffer, count, datatype, peer, tag, mode);
  if (owner != Owner::program) request.owner = owner;
  (request.vni->*start)(request);
  return request;
}

// A nonblocking send of the program's, which goes on to something else: with deferred submission
// (base/progress/idle_cores.hpp) an idle core may inject the message, and the request is done when it has.
[[gnu::always_inline]] inline Request& begin_isend(Comm& comm, const void* buffer, MPI_Count count,
                                                   const Datatype& datatype, int peer, int tag,
                                                   message::Mode mode = message::Mode::standard,
                                                   Owner owner = Owner::program) {
  return begin_send<&engine::Vni::try_isend, &engine::Vni::start_isend>(comm, Plane::user, buffer, count, datatype,
                                                                        peer, tag, mode, owner);
}

// Where the messages of the communicator have several VNIs, or none yet.
Request& begin_recv_on_lane(Comm& comm, Plane plane, void* buffer, MPI_Count count, const Datatype& datatype, int peer,
                            int tag, Owner owner);

[[gnu::always_inline]] inline Request& begin_recv(Comm& comm, Plane plane, void* buffer, MPI_Count count,
                                                  const Datatype& datatype, int peer, int tag,
                                                  Owner owner = Owner::program) {
  if (peer == MPI_PROC_NULL) [[unlikely]]
    return null_request(true);
  count_use(comm, plane, instruments::Count::receives);
  engine::Vni* const vni = comm.vni.load(std::memory_order_acquire);
  if (vni == nullptr) [[unlikely]]
    return begin_recv_on_lane(comm, plane, buffer, count, datatype, peer, tag, owner);
  Request& request = describe(comm, plane, *vni, buffer, count, datatype, peer, tag);
  request.receives = true;
  if (owner != Owner::program) request.owner = owner;
  request.vni->start_recv(request);
  return request;
}

}  // namespace heddle::p2p
