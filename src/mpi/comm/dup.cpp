// MPI_Comm_dup and its variants (MPI 5.0, section 7.4.2).
#include <cstring>

#include "messaging/p2p/p2p.hpp"
#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/schedule.hpp"
#include "mpi/comm/exchange.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/comm/make_comm.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/context.hpp"
#include "objects/object/resolve.hpp"
#include "objects/op/op.hpp"

namespace heddle {

namespace {

template <class T>
T* shared(T* object) {
  if (object) retain(*object);
  return object;
}

// The same groups and topology under contexts that only the leaders know yet.
Comm* make_twin(Comm& parent, int asked_model) {
  Rank& rank = *parent.owner;
  const bool first = parent.rank == 0;
  CommParts parts{.local_group = shared(parent.local_group), .remote_group = shared(parent.remote_group)};
  if (parent.inter) {
    parts.local_comm = make_child(
        *parent.local_comm, {.context = first ? fresh_context(rank) : 0, .local_group = shared(parent.local_group)});
  }
  if (first && (!parent.inter || leads(*parent.local_group, *parent.remote_group)))
    parts.context = fresh_context(rank, asked_model);
  Comm* twin = make_child(parent, parts);
  twin->topology = parent.topology;
  return twin;
}

// The members' info arguments are used, or not.
enum class Asked : bool { no, yes };

// Steps that bring the context of `twin` from member 0 to all, with the common assertions: each contributes its own,
// and ones for the bits that only others know.
Error plan_promises(coll::Schedule& schedule, Comm& twin, Context own) {
  if (schedule.comm().rank != 0) twin.context = ~promises;
  twin.context |= own;
  schedule.set_op(*predefined_op(MPI_BAND));
  const coll::BufferView context = coll::piece(&twin.context, 1, *predefined_datatype(MPI_UINT64_T));
  coll::allreduce(coll::team_of(schedule), context, context);
  return success;
}

// Steps that bring the contexts of `twin` from the leaders to all members of the parent, right into their places.
// Assertions are combined where every member has an info argument, and kept by intracommunicators.
Error plan_contexts(coll::Schedule& schedule, Comm& twin, Asked asked) {
  Comm& parent = schedule.comm();
  const coll::BufferView context = coll::raw(&twin.context, sizeof twin.context);
  if (!parent.inter) {
    if (asked == Asked::yes) return plan_promises(schedule, twin, promised(twin.hints));
    coll::bcast(coll::team_of(schedule), context, 0);
    return success;
  }
  const coll::Team local = coll::local_team_of(schedule);
  if (parent.rank == 0) {
    const coll::Team remote = coll::team_of(schedule);
    if (leads(*parent.local_group, *parent.remote_group)) {
      remote.send(context, 0);
    } else {
      remote.recv(context, 0);
    }
    remote.fence();
  }
  coll::bcast(local, context, 0);
  coll::bcast(local, coll::raw(&twin.local_comm->context, sizeof twin.context), 0);
  return success;
}

// A twin that is not returned: the copies of attributes that it has already are deleted again.
Error drop(Comm& twin, Error error) {
  char sentence[sizeof ErrorDetail::text];
  std::memcpy(sentence, error_detail().text, sizeof sentence);
  (void)twin.attributes.remove_all(twin.handle);
  std::memcpy(error_detail().text, sentence, sizeof sentence);
  retire(twin);
  return error;
}

Error dup(Comm& parent, const Info* info, Asked asked, MPI_Comm* out) {
  *out = MPI_COMM_NULL;
  int model = 0;
  if (Error e = choose_model(*parent.owner, *parent.local_group, info, model)) return e;
  Comm* twin = make_twin(parent, model);
  twin->hints = known_hints(info);
  Error error = coll::run(parent, [&](coll::Schedule& schedule) { return plan_contexts(schedule, *twin, asked); });
  if (!error) error = parent.attributes.copy_all(parent.handle, twin->attributes);
  if (error) return drop(*twin, error);
  *out = handle_of<MPI_Comm>(*twin);
  return success;
}

// The handle is there at once, the communicator works once the request is complete.
Error idup(Comm& parent, const Info* info, Asked asked, MPI_Comm* out, MPI_Request* request) {
  *out = MPI_COMM_NULL;
  int model = 0;
  if (Error e = choose_model(*parent.owner, *parent.local_group, info, model)) return e;
  Comm* twin = make_twin(parent, model);
  twin->hints = known_hints(info);
  const auto plan = [&](coll::Schedule& schedule) { return plan_contexts(schedule, *twin, asked); };
  if (Error error = parent.attributes.copy_all(parent.handle, twin->attributes)) {
    (void)coll::run(parent, plan, coll::Manner::nonblocking);  // the other members count on this one's part
    return drop(*twin, error);
  }
  if (Error error = coll::start(parent, request, plan)) return drop(*twin, error);
  *out = handle_of<MPI_Comm>(*twin);
  return success;
}

}  // namespace

namespace mpi {

// Hints are not passed on (MPI 4.0 took that back); with an info argument the new communicator gets those.
Error Comm_dup(Comm& comm, MPI_Comm* newcomm) { return dup(comm, nullptr, Asked::no, newcomm); }

Error Comm_dup_with_info(Comm& comm, const Info* info, MPI_Comm* newcomm) {
  return dup(comm, info, Asked::yes, newcomm);
}

Error Comm_idup(Comm& comm, MPI_Comm* newcomm, MPI_Request* request) {
  return idup(comm, nullptr, Asked::no, newcomm, request);
}

Error Comm_idup_with_info(Comm& comm, const Info* info, MPI_Comm* newcomm, MPI_Request* request) {
  return idup(comm, info, Asked::yes, newcomm, request);
}

}  // namespace mpi
}  // namespace heddle
