#include "mpi/comm/make_comm.hpp"

#include <utility>

#include "launch/rank/rank.hpp"
#include "messaging/p2p/any_tag.hpp"
#include "messaging/p2p/buffer.hpp"
#include "messaging/p2p/p2p.hpp"
#include "mpi/coll/internal.hpp"
#include "mpi/comm/shown_name.hpp"
#include "objects/object/context.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/file.hpp"
#include "objects/object/tables.hpp"
#include "objects/object/win.hpp"

namespace heddle {

namespace {

const int* world_ranks_of(const Group& group) { return group.world_ranks.empty() ? nullptr : group.world_ranks.data(); }

void inherit_errhandler(Comm& comm, const ErrhandlerSlot& from) {
  Errhandler* errhandler = from.get();
  comm.errhandler.set(*errhandler);
  release(*errhandler);
}

Comm* make_predefined(Rank& rank, MPI_Comm handle, const char* name, Context context, Group* group) {
  Comm* comm = make_comm(rank, {.context = context, .local_group = group});
  comm->handle = reinterpret_cast<std::uintptr_t>(handle);
  comm->user_made = false;
  comm->name = name;
  show_name(*comm);
  return comm;
}

}  // namespace

Comm::~Comm() {
  if (const instruments::Totals totals = counters.totals(); totals.threads != 0)
    owner->counter_registry.remember({.name = name, .size = size, .vni = p2p::vni_in_figures(*this)}, totals);
  if (!name.empty()) hide_name(*this);
  if (owner->faults) owner->faults->leave(*this);
  if (p2p::AnyTag* const receives = any_tag.load(std::memory_order_acquire)) receives->close();
  coll::release_state(*this);
  if (local_comm) release(*local_comm);
  if (remote_group) release(*remote_group);
  if (local_group) release(*local_group);
  owner->tables->comms.remove(*this);
}

Comm* make_comm(Rank& rank, const CommParts& parts) {
  Comm* comm = make_object<Comm>();
  const Group& target = parts.remote_group ? *parts.remote_group : *parts.local_group;
  comm->context = parts.context;
  comm->peer_world = world_ranks_of(target);
  comm->rank = parts.local_group->rank;
  comm->size = parts.local_group->size;
  comm->remote_size = target.size;
  comm->inter = parts.remote_group != nullptr;
  comm->user_made = true;
  comm->owner = &rank;
  comm->local_group = parts.local_group;
  comm->remote_group = parts.remote_group;
  comm->local_comm = parts.local_comm;
  if (parts.errhandler) {
    comm->errhandler.set(*parts.errhandler);
  } else {
    inherit_errhandler(*comm, rank.self ? rank.self->errhandler : rank.tables->initial_errhandler);
  }
  rank.tables->comms.add(*comm);
  return comm;
}

Comm* make_child(Comm& parent, const CommParts& parts) {
  Comm* comm = make_comm(*parent.owner, parts);
  inherit_errhandler(*comm, parent.errhandler);
  // A group that the child shares has it already, and is not written to: other threads read it.
  Session* session = parent.local_group->session;
  if (session && !comm->local_group->session) set_session(*comm->local_group, session);
  return comm;
}

Error free_comm(Comm& comm) {
  if (Error e = comm.attributes.remove_all(comm.handle)) return e;
  if (comm.owner->parent == &comm) comm.owner->parent = nullptr;
  if (comm.buffer) comm.buffer->flush();  // the program may use its memory again
  comm.buffer.reset();
  retire(comm);
  return success;
}

Comm* make_world(Rank& rank) {
  rank.tables->predefined.appnum = rank.job->record().appnum;
  // The user may have given mpiexec a size.
  const int universe_size = rank.job->universe_size();
  rank.tables->predefined.universe_size = universe_size > 0 ? universe_size : rank.world_size;
  return make_predefined(rank, MPI_COMM_WORLD, "MPI_COMM_WORLD",
                         make_context(rank.job->first_rank(), world_context_counter), make_world_group(rank));
}

Comm* make_self(Rank& rank) {
  return make_predefined(rank, MPI_COMM_SELF, "MPI_COMM_SELF", make_context(rank.world_rank, self_context_counter),
                         make_group(rank, {rank.world_rank}));
}

Error delete_world_attributes(Rank& rank) {
  const Error self = rank.self->attributes.remove_all(rank.self->handle);
  const Error world = rank.world->attributes.remove_all(rank.world->handle);
  return self ? self : world;
}

void free_world(Rank& rank) {
  for (Comm** comm : {&rank.self, &rank.world}) {
    if (*comm) retire(**comm);
    *comm = nullptr;
  }
}

void retire_handles(Rank& rank) {
  rank.tables->wins.retire_handles();
  rank.tables->files.retire_handles();
  rank.tables->comms.retire_handles();
}

}  // namespace heddle
