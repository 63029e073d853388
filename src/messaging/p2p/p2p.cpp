#include "messaging/p2p/p2p.hpp"

#include <mpi-ext.h>

#include <algorithm>
#include <new>

#include "launch/rank/rank.hpp"
#include "messaging/engine/asked_models.hpp"
#include "messaging/engine/engine.hpp"
#include "messaging/engine/vni.hpp"
#include "messaging/message/request_cache.hpp"
#include "messaging/p2p/begin.hpp"
#include "messaging/p2p/lanes.hpp"
#include "messaging/p2p/requests.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/group.hpp"
#include "objects/object/status.hpp"

namespace heddle::p2p {

using instruments::Count;

namespace {

engine::Vni& protector(Rank& rank, const Request& request) {
  return request.vni != nullptr ? *request.vni : rank.engine->vni(0);
}

}  // namespace

// The result of a communication with MPI_PROC_NULL, complete at once (MPI 5.0, section 3.10).
Request& null_request(bool receive) {
  Request& request = message::take_request();
  request.source = MPI_PROC_NULL;
  request.receives = receive;
  request.tag = MPI_ANY_TAG;
  request.done.store(1, std::memory_order_relaxed);
  return request;
}

Request& send_request(Comm& comm, Plane plane, const void* buffer, MPI_Count count, const Datatype& datatype, int peer,
                      int tag, message::Mode mode) {
  Request& request =
      describe(comm, plane, vni_of(comm, plane, comm.rank, tag), buffer, count, datatype, comm.rank, tag);
  request.peer = comm.world_rank(peer);
  request.mode = static_cast<std::uint32_t>(mode);
  request.send = {};
  return request;
}

Request& recv_request(Comm& comm, Plane plane, void* buffer, MPI_Count count, const Datatype& datatype, int peer,
                      int tag) {
  Request& request = describe(comm, plane, vni_of(comm, plane, peer, tag), buffer, count, datatype, peer, tag);
  request.receives = true;
  return request;
}

namespace {

Error wait_and_give_back(Request& send) {
  Error error = wait(send);
  if (error) [[unlikely]]
    error = explain(send);
  give_back(send);
  return error;
}

}  // namespace

Request& begin_recv_on_lane(Comm& comm, Plane plane, void* buffer, MPI_Count count, const Datatype& datatype, int peer,
                            int tag, Owner owner) {
  Request& request = recv_request(comm, plane, buffer, count, datatype, peer, tag);
  if (owner != Owner::program) request.owner = owner;
  start_recv_on_lane(comm, plane, request);
  return request;
}

Error send(Comm& comm, Plane plane, const void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag,
           message::Mode mode) {
  if (peer == MPI_PROC_NULL) [[unlikely]]
    return success;
  count_use(comm, plane, Count::sends);
  engine::Vni* const vni = comm.vni.load(std::memory_order_acquire);
  if (vni == nullptr) [[unlikely]]
    return wait_and_give_back(begin_send_on_lane<&engine::Vni::try_send, &engine::Vni::start_send>(
        comm, plane, buffer, count, datatype, peer, tag, mode, Owner::program));
  if (send_at_once<&engine::Vni::try_send>(comm, plane, buffer, count, datatype, peer, tag, mode, *vni, {})) [[likely]]
    return success;
  Request& request = send_request(comm, plane, buffer, count, datatype, peer, tag, mode);
  request.vni->start_send(request);
  return wait_and_give_back(request);
}

Error recv(Comm& comm, Plane plane, void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag,
           MPI_Status* status) {
  Request& request = begin_recv(comm, plane, buffer, count, datatype, peer, tag);
  Error error = wait(request);
  if (error) [[unlikely]] {
    error = wait_to_the_end(request);
    if (error) error = explain(request);
  }
  if (status != nullptr) set_status(*status, request.source, request.tag, static_cast<MPI_Count>(request.bytes));
  give_back(request);
  return error;
}

Error explain(const Request& request) {
  switch (request.error) {
    case MPI_ERR_TRUNCATE:
      return fail(MPI_ERR_TRUNCATE,
                  "message of %zu bytes from rank %d with tag %d does not fit: the receive has room for %zu",
                  request.receive.message_bytes, request.source, request.tag, request.capacity);
    case MPI_ERR_NO_MEM:
      return request.receives
                 ? fail(
                       MPI_ERR_NO_MEM,
                       "no memory left for a long message from rank %d with tag %d: not in this process, or not in the "
                       "job's shared segment, which windows may have used up",
                       request.source, request.tag)
                 : fail(MPI_ERR_NO_MEM,
                        "no memory left for a message of %zu bytes with tag %d: not in this process, or not in the "
                        "job's "
                        "shared segment for a first message to its receiver, which windows may have used up",
                        request.capacity, request.tag);
    case MPIX_ERR_PROC_FAILED:
    case MPIX_ERR_PROC_FAILED_PENDING:
    case MPIX_ERR_REVOKED:
      return describe_fault(request.error);
    case MPI_ERR_OTHER:
      return fail(MPI_ERR_OTHER, "the memory of the other process could not be read or written");
    default:
      return Error(request.error);
  }
}

Request& isend(Comm& comm, Plane plane, const void* buffer, MPI_Count count, const Datatype& datatype, int peer,
               int tag, message::Mode mode) {
  return begin_send<&engine::Vni::try_send, &engine::Vni::start_send>(comm, plane, buffer, count, datatype, peer, tag,
                                                                      mode, Owner::library);
}

Request& irecv(Comm& comm, Plane plane, void* buffer, MPI_Count count, const Datatype& datatype, int peer, int tag) {
  return begin_recv(comm, plane, buffer, count, datatype, peer, tag, Owner::library);
}

// A send's error of this class means that it has not left. A receive's may also mean that its message could not be
// moved.
Request& begun(Request& request) {
  const bool done = request.done.load(std::memory_order_acquire) != 0;
  if (!done || request.error != MPI_ERR_NO_MEM || (request.receives && request.receive.age != 0)) [[likely]]
    return request;
  give_back(request);
  throw std::bad_alloc();
}

Error wait(Request& request) {
  if (request.done.load(std::memory_order_acquire) == 0) {
    Request* const requests[] = {&request};
    current_rank().engine->wait(requests, 1, false);
  }
  return Error(request.error);
}

namespace {

// `error` of a request is valid for its end only once it is done.
bool goes_on(Request& request, bool at_its_end) {
  const bool is_done = request.done.load(std::memory_order_acquire) == 1;
  if (is_done && request.error != MPIX_ERR_PROC_FAILED_PENDING) return false;
  return protector(current_rank(), request).resolve(request, at_its_end);
}

}  // namespace

bool is_pending(Request& request) { return goes_on(request, false); }
bool goes_on_at_its_end(Request& receive) { return goes_on(receive, true); }

Error wait_to_the_end(Request& receive) {
  do {
    (void)wait(receive);
  } while (goes_on_at_its_end(receive));
  return Error(receive.error);
}

Error wait_all(Request* const* requests, std::size_t n) {
  current_rank().engine->wait(requests, n, false);
  for (std::size_t i = 0; i < n; ++i)
    if (requests[i]->error != MPI_SUCCESS) return Error(requests[i]->error);
  return success;
}

bool test(Request& request) {
  return request.done.load(std::memory_order_acquire) != 0 || current_rank().engine->test(request) || ends_now(request);
}

bool ends_now(Request& request) {
  if (request.type == nullptr || request.type->is_over == nullptr || !request.type->is_over(request)) return false;
  (void)wait(request);
  return true;
}

Error end(Request& request) {
  Rank& rank = current_rank();
  if (&request == rank.sent) return success;
  if (request.done.load(std::memory_order_acquire) == 1 || protector(rank, request).disown(request))
    return message::give_back_done(request);
  return success;
}

void give_back(Request& request) { (void)end(request); }

void give_back_unstarted(Request& request) {
  if (request.datatype != nullptr) release(*request.datatype);
  (void)message::give_back_done(request);
}

Request& take_request(const RequestType& type) {
  Request& request = message::take_request();
  request.type = &type;
  return request;
}

void complete(Request& request) { (void)protector(current_rank(), request).complete(request); }

namespace {

// Both sides of a communicator decide alike. Between nodes two lanes are two routes, and the later message may arrive first. Without
// any wildcards messages are spread by source, too.
bool has_lanes(const Rank& rank, const Comm& comm) {
  if (rank.lanes == nullptr || rank.faults || comm.asked_model() != 0) return false;
  if (comm.has_promised(promise_no_any_source) && comm.has_promised(promise_no_any_tag)) return false;
  const auto is_here = [&](const Group& group) {
    for (int r = 0; r < group.size; ++r)
      if (!rank.node->is_local(group.world_ranks.empty() ? r : group.world_ranks[static_cast<std::size_t>(r)]))
        return false;
    return true;
  };
  return is_here(*comm.local_group) && (comm.remote_group == nullptr || is_here(*comm.remote_group));
}

}  // namespace

engine::Vni& choose_vni(Comm& comm, Plane plane, int source, int tag) {
  Rank& rank = *comm.owner;
  if (rank.faults) {
    rank.faults->add(comm);
    if (comm.faults.load(std::memory_order_acquire)->is_revoked()) return rank.engine->revoked_vni();
  }
  if (has_lanes(rank, comm)) {
    comm.lanes.store(rank.lanes.get(), std::memory_order_release);
    return rank.lanes->of(comm, is_over_lanes(plane) ? tag : 0);
  }
  const auto [first, vnis] = engine::vnis_of_model(rank, comm.asked_model());
  std::uint64_t turn = comm.context / contexts_apart;
  const bool spread = comm.has_promised(promises) && vnis > 1;
  if (spread && plane == Plane::user) {
    if (comm.has_promised(promise_no_any_tag)) turn += static_cast<std::uint64_t>(tag);
    if (comm.has_promised(promise_no_any_source)) turn += static_cast<std::uint64_t>(source);
  }
  engine::Vni& vni = rank.engine->vni(first + static_cast<int>(turn % static_cast<std::uint64_t>(vnis)));
  if (!spread) comm.vni.store(&vni, std::memory_order_seq_cst);
  // A revoking thread removes the VNI after it has set the flag: one of the two sees the other.
  if (rank.faults && comm.faults.load(std::memory_order_acquire)->is_revoked()) comm.vni.store(nullptr);
  return vni;
}

bool progress(Rank& rank, const Request* needed) { return rank.engine->progress(needed); }

void tested_in_vain(Rank& rank, bool moved) { rank.engine->tested_in_vain(moved); }

void poll_once(Rank& rank) { rank.engine->poll_once(); }

node::Heap& shared_memory(Rank& rank) { return rank.node->heap(); }

bool is_on_this_node(const Comm& comm, int peer) { return comm.owner->node->place().is_local(comm.world_rank(peer)); }

bool is_on_one_node(const Comm& comm) {
  if (comm.owner->node->place().is_alone()) return true;
  for (int r = 0; r < comm.remote_size; ++r)
    if (!is_on_this_node(comm, r)) return false;
  return true;
}

void wait_until(Rank& rank, bool (*holds)(const void*), const void* what, const boot::Wait& wait) {
  rank.engine->wait_until(holds, what, wait);
}

void notify(Rank& rank, int world_rank) { rank.engine->notify(world_rank); }

bool cancel(Request& request) {
  if (AnyTag* const any_tag = request.any_tag.load(std::memory_order_relaxed)) [[unlikely]]
    return any_tag->cancel(request);
  return protector(current_rank(), request).cancel(request);
}

void send_deferred(const Comm& comm) {
  comm.owner->engine->send_deferred([&comm](int peer) {
    const auto has_member = [peer](const Group* group) {
      if (group == nullptr) return false;
      const auto& ranks = group->world_ranks;
      return ranks.empty() ? peer < group->size : std::find(ranks.begin(), ranks.end(), peer) != ranks.end();
    };
    return has_member(comm.local_group) || has_member(comm.remote_group);
  });
}

void begin_serving(Rank& rank) { rank.engine->begin_serving(); }
void end_serving(Rank& rank) { rank.engine->end_serving(); }

int vni_in_figures(const Comm& comm) {
  if (lanes_of(comm, Plane::user) != nullptr) return instruments::over_lanes;
  const engine::Vni* const vni = comm.vni.load(std::memory_order_relaxed);
  return vni != nullptr ? vni->index() : instruments::no_vni;
}

void start_polling(Rank& rank, progress::Pollable& work) {
  rank.pollables->add(work);
  rank.engine->notify(rank.world_rank);  // blocked threads of this rank have not seen it
}

}  // namespace heddle::p2p
