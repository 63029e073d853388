// MPI_Probe, MPI_Mprobe and the receives of matched messages (MPI 5.0, section 3.8).
#include <new>

#include "base/instruments/cells.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/engine/blocked.hpp"
#include "messaging/engine/engine.hpp"
#include "messaging/p2p/requests.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/message.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/status.hpp"

namespace heddle {

Message* object(MPI_Message handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value >= arena::first_user_handle ? live_object<Message>(value) : nullptr;
}

namespace {

// A message that was found. None: `content` is null.
struct Found {
  message::Unexpected* content = nullptr;
  engine::Vni* vni = nullptr;
  engine::Probed envelope;
};

// Asks where receives with this tag are posted, which a first receive with MPI_ANY_TAG on lanes changes.
Found find(Comm& comm, int source, int tag, bool take) {
  Found found;
  found.vni = &p2p::vni_of(comm, Plane::user, source, tag);
  if (tag == MPI_ANY_TAG && p2p::lanes_of(comm, Plane::user) != nullptr) [[unlikely]]
    (void)comm.owner->lanes->any_tags().of(comm);
  if (p2p::AnyTag* const any_tag = comm.any_tag.load(std::memory_order_acquire)) [[unlikely]]
    found.content = any_tag->probe(source, tag, take, found.envelope, found.vni);
  else
    found.content = found.vni->probe(comm.context, source, tag, take, found.envelope);
  return found;
}

Found try_probe(Comm& comm, int source, int tag, bool take) {
  const bool moved = p2p::progress(*comm.owner, nullptr);
  const Found found = find(comm, source, tag, take);
  if (found.content == nullptr) p2p::tested_in_vain(*comm.owner, moved);
  return found;
}

// None: it may never come, and the reason.
Found wait_probe(Comm& comm, int source, int tag, bool take, Error& why) {
  Found found;
  const auto holds = [&] {
    if (found.content == nullptr) found = find(comm, source, tag, take);  // asked again later
    if (found.content == nullptr) why = fault_of(comm, source);
    return found.content != nullptr || why;
  };
  engine::Vni& vni = p2p::vni_of(comm, Plane::user, source, tag);
  vni.begin_probing();
  p2p::wait_until(*comm.owner, engine::wait_on(comm, boot::Awaited::probed, source, tag), holds);
  vni.end_probing();
  return found;
}

// Polls once, or until a message is there; `there` if one is. MPI_PROC_NULL always has one, which is empty.
Error probe(Comm& comm, int source, int tag, bool blocking, MPI_Message* message, MPI_Status* status, bool& there) {
  there = false;
  MPI_Status ignored;
  MPI_Status& out = status != MPI_STATUS_IGNORE ? *status : ignored;
  if (source == MPI_PROC_NULL) {
    set_proc_null_status(out);
    if (message != nullptr) *message = MPI_MESSAGE_NO_PROC;
    there = true;
    return success;
  }
  const bool take = message != nullptr;
  // A message that has been taken must not be lost for lack of memory: the object that holds it is made before.
  if (take && !blocking && try_probe(comm, source, tag, false).content == nullptr) return fault_of(comm, source);
  Error why;
  Message* const made = take ? make_object<Message>(comm) : nullptr;
  const Found found = blocking ? wait_probe(comm, source, tag, take, why) : try_probe(comm, source, tag, take);
  there = found.content != nullptr;
  if (there) set_status(out, found.envelope.source, found.envelope.tag, static_cast<MPI_Count>(found.envelope.bytes));
  if (!there) {  // by now, if another thread has it
    if (take) retire(*made);
    return blocking ? why : fault_of(comm, source);
  }
  if (!take) return success;
  retain(comm);  // the program may free it before it receives
  made->source = found.envelope.source;
  made->tag = found.envelope.tag;
  made->vni = found.vni;
  made->content = found.content;
  *message = handle_of<MPI_Message>(*made);
  return success;
}

Request& matched_recv(void* buf, MPI_Count count, const Datatype& datatype, MPI_Message* handle) {
  if (*handle == MPI_MESSAGE_NO_PROC) {
    *handle = MPI_MESSAGE_NULL;
    return p2p::null_request(true);
  }
  Message& message = *object(*handle);
  Comm& comm = *message.comm;
  message::Unexpected& content = *message.content;
  Request& request = p2p::recv_request(comm, Plane::user, buf, count, datatype, message.source, message.tag);
  request.vni = message.vni;  // its sender answers there, also after the communicator is freed
  try {
    request.vni->start_matched_recv(request, content);
  } catch (const std::bad_alloc&) {
    p2p::give_back_unstarted(request);
    throw;  // the message is there still
  }
  retire(message);  // the handle is used up
  *handle = MPI_MESSAGE_NULL;
  instruments::count(comm.counters, instruments::Count::receives);
  release(comm);
  return request;
}

}  // namespace

namespace mpi {

Error Iprobe(int source, int tag, Comm& comm, int* flag, MPI_Status* status) {
  bool there = false;
  const Error error = probe(comm, source, tag, false, nullptr, status, there);
  *flag = there;
  return error;
}
Error Probe(int source, int tag, Comm& comm, MPI_Status* status) {
  bool there = false;
  return probe(comm, source, tag, true, nullptr, status, there);
}
Error Improbe(int source, int tag, Comm& comm, int* flag, MPI_Message* message, MPI_Status* status) {
  bool there = false;
  const Error error = probe(comm, source, tag, false, message, status, there);
  *flag = there;
  if (!there) *message = MPI_MESSAGE_NULL;
  return error;
}
Error Mprobe(int source, int tag, Comm& comm, MPI_Message* message, MPI_Status* status) {
  bool there = false;
  return probe(comm, source, tag, true, message, status, there);
}

Error Imrecv(void* buf, MPI_Count count, const Datatype& datatype, MPI_Message* message, MPI_Request* request) {
  *request = handle_of<MPI_Request>(matched_recv(buf, count, datatype, message));
  return success;
}
Error Mrecv(void* buf, MPI_Count count, const Datatype& datatype, MPI_Message* message, MPI_Status* status) {
  Request& request = matched_recv(buf, count, datatype, message);
  Error error = p2p::wait(request);
  if (error) error = p2p::explain(request);
  if (status != MPI_STATUS_IGNORE)
    set_status(*status, request.source, request.tag, static_cast<MPI_Count>(request.bytes));
  p2p::give_back(request);
  return error;
}

}  // namespace mpi
}  // namespace heddle
