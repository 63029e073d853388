// New communicators from an existing one or from a group (MPI 5.0, sections 7.4.2 and 11.3.3).
#include <cstring>
#include <string_view>

#include "mpi/comm/bootstrap.hpp"
#include "mpi/comm/exchange.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/comm/make_comm.hpp"
#include "mpi/comm/split.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/context.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/tags.hpp"

namespace heddle::mpi {

namespace {

MPI_Comm handle_or_null(const Comm* comm) { return comm ? handle_of<MPI_Comm>(*comm) : MPI_COMM_NULL; }

Error check_subset(const Group& group, const Comm& comm) {
  const RankFinder find(*comm.local_group);
  for (int r = 0; r < group.size; ++r) {
    if (find(group.world_rank(r)) == MPI_UNDEFINED)
      return fail(MPI_ERR_GROUP, "process %d of group is not in the group of comm", r);
  }
  return success;
}

}  // namespace

Error Comm_split(Comm& comm, int color, int key, MPI_Comm* newcomm) {
  if (color < 0 && color != MPI_UNDEFINED) return fail(MPI_ERR_ARG, "color is %d", color);
  Comm* child = nullptr;
  if (Error e = split(comm, color, key, child)) return e;
  *newcomm = handle_or_null(child);
  return success;
}

// A split in which the color of a group is its first member, and the key the place in the group. The groups of an
// intercommunicator's one side are all the same, so there the color is just a yes.
Error Comm_create(Comm& comm, Group& group, MPI_Comm* newcomm) {
  if (Error e = check_subset(group, comm)) return e;
  const bool member = group.rank != MPI_UNDEFINED;
  const int color = !member ? MPI_UNDEFINED : comm.inter ? 0 : group.world_rank(0);
  Comm* child = nullptr;
  if (Error e = split(comm, color, member ? group.rank : 0, child)) return e;
  *newcomm = handle_or_null(child);
  return success;
}

Error Comm_create_group(Comm& comm, Group& group, int tag, MPI_Comm* newcomm) {
  if (comm.inter) return fail(MPI_ERR_COMM, "comm is an intercommunicator");
  if (tag < 0 || tag > tag_upper_bound) return fail(MPI_ERR_TAG, "tag is %d, MPI_TAG_UB is %d", tag, tag_upper_bound);
  if (Error e = check_subset(group, comm)) return e;
  *newcomm = MPI_COMM_NULL;
  if (group.rank == MPI_UNDEFINED) return success;
  int model = 0;
  if (Error e = choose_model(*comm.owner, *comm.local_group, nullptr, model)) return e;
  Context context = group.rank == 0 ? fresh_context(*comm.owner, model) : 0;
  if (Error e = announce_in_group(comm, group, creation_tag(tag), &context, sizeof context)) return e;
  *newcomm = handle_of<MPI_Comm>(*make_child(comm, {.context = context, .local_group = copy_of(group)}));
  return success;
}

Error Comm_create_from_group(Group& group, const char* stringtag, const Info* info, Errhandler& errhandler,
                             MPI_Comm* newcomm) {
  if (Error e = check_stringtag(stringtag)) return e;
  if (!errhandler.fits(Kind::comm)) return fail(MPI_ERR_ERRHANDLER, "errhandler is not one for communicators");
  if (group.size == 0) {
    *newcomm = MPI_COMM_NULL;
    return success;
  }
  if (group.rank == MPI_UNDEFINED) return fail(MPI_ERR_GROUP, "this process is not in group");
  Rank& rank = current_rank();
  int model = 0;
  if (Error e = choose_model(rank, group, info, model)) return e;
  Comm* child = nullptr;
  if (Error e = create_from_group(rank, group, stringtag, errhandler, model, child)) return e;
  child->hints = known_hints(info);
  *newcomm = handle_of<MPI_Comm>(*child);
  return success;
}

}  // namespace heddle::mpi
