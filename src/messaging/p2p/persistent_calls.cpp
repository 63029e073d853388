// Persistent point-to-point requests (MPI 5.0, section 3.9): the arguments are kept, and every start uses the same
// request again.
#include <mpi-ext.h>

#include <new>

#include "base/instruments/cells.hpp"
#include "messaging/engine/vni.hpp"
#include "messaging/p2p/begin.hpp"
#include "messaging/p2p/buffer.hpp"
#include "messaging/p2p/requests.hpp"
#include "objects/binding/impl.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

namespace {

// The fields that a round overwrites in the request, and the references that last over all rounds.
struct Arguments {
  Comm* comm;
  const Datatype* datatype;
  int source;
  int tag;
  int peer;  // as the user gave it
  bool buffered;
};

Arguments& arguments(Request& request) { return *static_cast<Arguments*>(request.state); }

void finish_at_once(Request& request) { request.done.store(1, std::memory_order_release); }

Error start(Request& request) {
  const Arguments& args = arguments(request);
  Comm& comm = *args.comm;
  request.error = MPI_SUCCESS;
  request.cancelled = false;
  request.bytes = 0;
  request.tag = args.tag;
  request.source = args.source;
  if (args.peer == MPI_PROC_NULL) {
    request.tag = MPI_ANY_TAG;
    finish_at_once(request);
    return success;
  }
  if (args.buffered) {
    const Error error = p2p::buffered_send(comm, request.buffer, request.count, *args.datatype, args.peer, args.tag);
    finish_at_once(request);
    return error;
  }
  request.datatype = args.datatype;
  retain(*args.datatype);
  request.done.store(0, std::memory_order_relaxed);
  request.send = {};
  if (fault_of_collective(comm).code() == MPIX_ERR_REVOKED) [[unlikely]] {
    request.error = MPIX_ERR_REVOKED;
    p2p::complete(request);
    return success;
  }
  if (request.receives) {
    count(comm.counters, instruments::Count::receives);
    p2p::start_recv_on_lane(comm, Plane::user, request);
  } else {
    count(comm.counters, instruments::Count::sends);
    request.send.order = p2p::order_of_send(comm, Plane::user, args.peer, args.tag);
    request.vni->start_isend(request);
  }
  return success;
}

constexpr RequestType persistent_type{
    .name = "persistent",
    .start = start,
    .cancel = nullptr,
    .finish = nullptr,
    .destroy =
        [](Request& request) {
          release(*arguments(request).datatype);
          release(*arguments(request).comm);
          delete &arguments(request);
          return success;
        },
};

MPI_Request make_persistent(Request& request, const Datatype& datatype, int peer, bool buffered) {
  // The reference that a started operation would give back is the one that the arguments keep.
  request.state = new (std::nothrow) Arguments{request.comm, &datatype, request.source, request.tag, peer, buffered};
  if (request.state == nullptr) {
    p2p::give_back_unstarted(request);
    throw std::bad_alloc();
  }
  request.datatype = nullptr;
  retain(*request.comm);  // the program may free it between the rounds
  request.type = &persistent_type;
  request.persistent = true;
  return handle_of<MPI_Request>(request);
}

Error send_init(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
                message::Mode mode, bool buffered, MPI_Request* request) {
  const int peer = dest == MPI_PROC_NULL ? 0 : dest;  // any: it is never used
  *request = make_persistent(p2p::send_request(comm, Plane::user, buf, count, datatype, peer, tag, mode), datatype,
                             dest, buffered);
  return success;
}

Error start_handle(MPI_Request handle, int index) {
  Request* request = handle == MPI_REQUEST_NULL ? nullptr : object(handle);
  if (request == nullptr) return fail(MPI_ERR_REQUEST, "request %d is not a live request", index);
  if (!request->persistent) return fail(MPI_ERR_REQUEST, "request %d is not persistent", index);
  if (request->active) return fail(MPI_ERR_REQUEST, "request %d is already started", index);
  request->active = true;
  try {
    return request->type->start(*request);
  } catch (const std::bad_alloc&) {
    request->active = false;
    throw;
  }
}

}  // namespace

Error Send_init(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
                MPI_Request* request) {
  return send_init(buf, count, datatype, dest, tag, comm, message::Mode::standard, false, request);
}
Error Ssend_init(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
                 MPI_Request* request) {
  return send_init(buf, count, datatype, dest, tag, comm, message::Mode::synchronous, false, request);
}
Error Rsend_init(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
                 MPI_Request* request) {
  return send_init(buf, count, datatype, dest, tag, comm, message::Mode::ready, false, request);
}
Error Bsend_init(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
                 MPI_Request* request) {
  return send_init(buf, count, datatype, dest, tag, comm, message::Mode::standard, true, request);
}
Error Recv_init(void* buf, MPI_Count count, const Datatype& datatype, int source, int tag, Comm& comm,
                MPI_Request* request) {
  *request =
      make_persistent(p2p::recv_request(comm, Plane::user, buf, count, datatype, source, tag), datatype, source, false);
  return success;
}

Error Start(MPI_Request* request) { return start_handle(*request, 0); }
Error Startall(int count, MPI_Request requests[]) {
  for (int i = 0; i < count; ++i)
    if (Error e = start_handle(requests[i], i)) return e;
  return success;
}

}  // namespace heddle::mpi
