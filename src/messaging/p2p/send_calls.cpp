// MPI_Send, MPI_Isend and their modes; MPI_Recv, MPI_Irecv; the combined calls (MPI 5.0, sections 3.2-3.4, 3.7, 3.10).
#include <sched.h>

#include <memory>
#include <new>

#include "base/progress/shortage.hpp"
#include "messaging/p2p/begin.hpp"
#include "messaging/p2p/requests.hpp"
#include "objects/binding/impl.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/status.hpp"

namespace heddle::mpi {

namespace {

void isend(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
           message::Mode mode, MPI_Request* request) {
  *request = handle_of<MPI_Request>(p2p::begin_isend(comm, buf, count, datatype, dest, tag, mode));
}

}  // namespace

Error Send(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm) {
  return p2p::send(comm, Plane::user, buf, count, datatype, dest, tag);
}
Error Ssend(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm) {
  return p2p::send(comm, Plane::user, buf, count, datatype, dest, tag, message::Mode::synchronous);
}
Error Rsend(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm) {
  return p2p::send(comm, Plane::user, buf, count, datatype, dest, tag, message::Mode::ready);
}
Error Isend(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
            MPI_Request* request) {
  isend(buf, count, datatype, dest, tag, comm, message::Mode::standard, request);
  return success;
}
Error Issend(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
             MPI_Request* request) {
  isend(buf, count, datatype, dest, tag, comm, message::Mode::synchronous, request);
  return success;
}
Error Irsend(const void* buf, MPI_Count count, const Datatype& datatype, int dest, int tag, Comm& comm,
             MPI_Request* request) {
  isend(buf, count, datatype, dest, tag, comm, message::Mode::ready, request);
  return success;
}

Error Recv(void* buf, MPI_Count count, const Datatype& datatype, int source, int tag, Comm& comm, MPI_Status* status) {
  return p2p::recv(comm, Plane::user, buf, count, datatype, source, tag, status);
}
Error Irecv(void* buf, MPI_Count count, const Datatype& datatype, int source, int tag, Comm& comm,
            MPI_Request* request) {
  *request = handle_of<MPI_Request>(p2p::begin_recv(comm, Plane::user, buf, count, datatype, source, tag));
  return success;
}

// ---- send and receive in one call (section 3.10)

namespace {

// Begins the send of a call whose receive is posted. Throws std::bad_alloc if there is no memory for it: the receive is
// then over. It is cancelled if its message has not come; else the send is tried again for a while.
template <class Begin>
Request& send_beside(Request& receive, Begin&& begin) {
  for (progress::Shortage shortage;;) {
    try {
      return p2p::begun(begin());
    } catch (const std::bad_alloc&) {
      if (receive.vni == nullptr || p2p::cancel(receive) || !shortage.bear()) {
        (void)p2p::wait(receive);
        p2p::give_back(receive);
        throw;
      }
      p2p::poll_once(current_rank());
      sched_yield();  // another thread may free some
    }
  }
}

}  // namespace

Error Sendrecv(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, int dest, int sendtag, void* recvbuf,
               MPI_Count recvcount, const Datatype& recvtype, int source, int recvtag, Comm& comm, MPI_Status* status) {
  Request& receive = p2p::begun(p2p::begin_recv(comm, Plane::user, recvbuf, recvcount, recvtype, source, recvtag));
  Request& send = send_beside(receive, [&]() -> Request& {
    return p2p::isend(comm, Plane::user, sendbuf, sendcount, sendtype, dest, sendtag);
  });
  Request* const both[] = {&receive, &send};
  Error error = p2p::wait_all(both, 2);
  if (error) {
    error = p2p::wait_to_the_end(receive);
    if (!error) error = Error(send.error);
  }
  if (error) error = p2p::explain(receive.error != MPI_SUCCESS ? receive : send);
  if (status != MPI_STATUS_IGNORE)
    set_status(*status, receive.source, receive.tag, static_cast<MPI_Count>(receive.bytes));
  p2p::give_back(send);
  p2p::give_back(receive);
  return error;
}

Error Sendrecv_replace(void* buf, MPI_Count count, const Datatype& datatype, int dest, int sendtag, int source,
                       int recvtag, Comm& comm, MPI_Status* status) {
  const std::size_t bytes = packed_size(datatype, count);
  const auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
  pack(datatype, buf, count, 0, copy.get(), bytes);
  return Sendrecv(copy.get(), static_cast<MPI_Count>(bytes), *predefined_datatype(MPI_BYTE), dest, sendtag, buf, count,
                  datatype, source, recvtag, comm, status);
}

namespace {

// A request over a send and a receive; done when both are.
struct Pair final : progress::Pollable {
  Request* whole;
  Request* send;
  Request* receive;
  std::unique_ptr<std::byte[]> copy;  // isendrecv_replace: the data being sent
  bool poll() override {
    if (send->done.load(std::memory_order_acquire) == 0 || receive->done.load(std::memory_order_acquire) == 0)
      return false;
    if (p2p::goes_on_at_its_end(*receive)) return false;
    whole->error = receive->error != MPI_SUCCESS ? receive->error : send->error;
    p2p::complete(*whole);
    return true;
  }
};

Pair& pair_of(Request& request) { return *static_cast<Pair*>(request.state); }

constexpr RequestType pair_type{
    .name = "sendrecv",
    .start = nullptr,
    .cancel = nullptr,
    .finish =
        [](Request& request, MPI_Status& status) {
          const Request& r = *pair_of(request).receive;
          set_status(status, r.source, r.tag, static_cast<MPI_Count>(r.bytes), r.cancelled);
          return r.error != MPI_SUCCESS ? p2p::explain(r) : success;
        },
    .destroy =
        [](Request& request) {
          Pair& pair = pair_of(request);
          p2p::give_back(*pair.send);
          p2p::give_back(*pair.receive);
          delete &pair;
          return success;
        },
    .awaited = boot::Awaited::exchange,
};

// Begins both; receive() and send() do that.
template <class Receive, class Send>
void start_pair(std::unique_ptr<Pair> pair, Comm& comm, MPI_Request* handle, Receive&& receive, Send&& send) {
  Request& whole = message::take_request();
  try {
    pair->receive = &p2p::begun(receive());
    pair->send = &send_beside(*pair->receive, send);
  } catch (const std::bad_alloc&) {
    p2p::give_back_unstarted(whole);
    throw;
  }
  whole.type = &pair_type;
  whole.comm = &comm;
  whole.context = comm.context;
  pair->whole = &whole;
  *handle = handle_of<MPI_Request>(whole);
  whole.state = pair.get();
  p2p::start_polling(current_rank(), *pair.release());
}

}  // namespace

Error Isendrecv(const void* sendbuf, MPI_Count sendcount, const Datatype& sendtype, int dest, int sendtag,
                void* recvbuf, MPI_Count recvcount, const Datatype& recvtype, int source, int recvtag, Comm& comm,
                MPI_Request* request) {
  start_pair(
      std::make_unique<Pair>(), comm, request,
      [&]() -> Request& { return p2p::irecv(comm, Plane::user, recvbuf, recvcount, recvtype, source, recvtag); },
      [&]() -> Request& {
        return p2p::begin_isend(comm, sendbuf, sendcount, sendtype, dest, sendtag, message::Mode::standard,
                                Owner::library);
      });
  return success;
}

Error Isendrecv_replace(void* buf, MPI_Count count, const Datatype& datatype, int dest, int sendtag, int source,
                        int recvtag, Comm& comm, MPI_Request* request) {
  const std::size_t bytes = packed_size(datatype, count);
  auto pair = std::make_unique<Pair>();
  pair->copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
  pack(datatype, buf, count, 0, pair->copy.get(), bytes);
  const void* const copy = pair->copy.get();
  start_pair(
      std::move(pair), comm, request,
      [&]() -> Request& { return p2p::irecv(comm, Plane::user, buf, count, datatype, source, recvtag); },
      [&]() -> Request& {
        return p2p::begin_isend(comm, copy, static_cast<MPI_Count>(bytes), *predefined_datatype(MPI_BYTE), dest,
                                sendtag, message::Mode::standard, Owner::library);
      });
  return success;
}

}  // namespace heddle::mpi
