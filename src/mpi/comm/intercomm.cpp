// Making and merging intercommunicators (MPI 5.0, section 7.6).
#include <algorithm>
#include <string>
#include <vector>

#include "mpi/comm/bootstrap.hpp"
#include "mpi/comm/exchange.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/comm/join_groups.hpp"
#include "mpi/comm/make_comm.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/context.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/tags.hpp"

namespace heddle {

namespace {

struct Greeting {
  int size;
  Context offered;
};

// The leaders introduce their groups to each other.
Error exchange_groups(Comm& comm, int peer, int tag, const Group& local, Context offered, Remote& remote) {
  const Greeting ours{local.size, offered};
  Greeting theirs{};
  if (Error e = swap_bytes(comm, peer, tag, &ours, sizeof ours, &theirs, sizeof theirs)) return e;
  remote.size = theirs.size;
  remote.offered = theirs.offered;
  remote.world_ranks.resize(static_cast<std::size_t>(theirs.size));
  const std::vector<int> mine = world_ranks_of(local);
  return swap_bytes(comm, peer, tag, mine.data(), mine.size() * sizeof(int), remote.world_ranks.data(),
                    remote.world_ranks.size() * sizeof(int));
}

// The two uses that MPI_Intercomm_create_from_groups makes of a string tag, kept apart from each other and from
// MPI_Comm_create_from_group's.
std::string tag_for(const char* stringtag, const char* use) { return std::string(use) + '\n' + stringtag; }

}  // namespace

namespace mpi {

Error Intercomm_create(Comm& local_comm, int local_leader, Comm* peer_comm, int remote_leader, int tag,
                       MPI_Comm* newintercomm) {
  if (Error e = check_survivable(*local_comm.owner, "an intercommunicator")) return e;
  const auto exchange = [&](const Group& local, Context offered, Remote& remote) {
    if (!peer_comm) return fail(MPI_ERR_COMM, "peer_comm is MPI_COMM_NULL at the local leader");
    if (remote_leader < 0 || remote_leader >= peer_comm->remote_size)
      return fail(MPI_ERR_RANK, "remote_leader is %d, but peer_comm has %d processes", remote_leader,
                  peer_comm->remote_size);
    if (tag < 0 || tag > tag_upper_bound) return fail(MPI_ERR_TAG, "tag is %d, MPI_TAG_UB is %d", tag, tag_upper_bound);
    return exchange_groups(*peer_comm, remote_leader, creation_tag(tag), local, offered, remote);
  };
  int model = 0;
  if (Error e = choose_model(*local_comm.owner, *local_comm.local_group, nullptr, model)) return e;
  Comm* intercomm = nullptr;
  if (Error e = join_groups(local_comm, local_leader, nullptr, model, exchange, intercomm)) return e;
  *newintercomm = handle_of<MPI_Comm>(*intercomm);
  return success;
}

Error Intercomm_create_from_groups(Group& local_group, int local_leader, Group* remote_group, int remote_leader,
                                   const char* stringtag, const Info* info, Errhandler& errhandler,
                                   MPI_Comm* newintercomm) {
  if (Error e = check_survivable(current_rank(), "an intercommunicator")) return e;
  if (Error e = check_stringtag(stringtag)) return e;
  if (!errhandler.fits(Kind::comm)) return fail(MPI_ERR_ERRHANDLER, "errhandler is not one for communicators");
  if (local_group.rank == MPI_UNDEFINED) return fail(MPI_ERR_GROUP, "this process is not in local_group");
  if (local_leader < 0 || local_leader >= local_group.size)
    return fail(MPI_ERR_RANK, "local_leader is %d, but local_group has %d processes", local_leader, local_group.size);

  Rank& rank = current_rank();
  int model = 0;
  if (Error e = choose_model(rank, local_group, info, model)) return e;
  Comm* local_comm = nullptr;
  if (Error e = create_from_group(rank, local_group, tag_for(stringtag, "local"), errhandler, 0, local_comm)) return e;

  const auto exchange = [&](const Group& local, Context offered, Remote& remote) {
    if (!remote_group) return fail(MPI_ERR_GROUP, "remote_group is MPI_GROUP_NULL at the local leader");
    if (remote_leader < 0 || remote_leader >= remote_group->size)
      return fail(MPI_ERR_RANK, "remote_leader is %d, but remote_group has %d processes", remote_leader,
                  remote_group->size);
    // Both leaders compute the same pair.
    std::vector<int> leaders{rank.world_rank, remote_group->world_rank(remote_leader)};
    if (leaders[0] == leaders[1]) return fail(MPI_ERR_RANK, "both leaders are the same process");
    std::sort(leaders.begin(), leaders.end());
    Group* pair = make_group(rank, std::move(leaders));
    Comm* bootstrap = make_bootstrap_comm(rank, *pair, tag_for(stringtag, "leaders"));
    const Error error = exchange_groups(*bootstrap, 1 - pair->rank, creation_tag(0), local, offered, remote);
    retire(*bootstrap);
    release(*pair);
    return error;
  };
  Comm* intercomm = nullptr;
  const Error error = join_groups(*local_comm, local_leader, &errhandler, model, exchange, intercomm);
  retire(*local_comm);
  if (error) return error;
  intercomm->hints = known_hints(info);
  *newintercomm = handle_of<MPI_Comm>(*intercomm);
  return success;
}

Error Intercomm_merge(Comm& intercomm, int high, MPI_Comm* newintracomm) {
  struct Bid {
    bool high;
    Context context;
  };
  Rank& rank = *intercomm.owner;
  int model = 0;
  if (Error e = choose_model(rank, *intercomm.local_group, nullptr, model)) return e;
  std::vector<Bid> ours, theirs;
  if (Error e = exchange(intercomm, Bid{high != 0, fresh_context(rank, model)}, ours, theirs)) return e;
  for (const auto& side : {ours, theirs}) {
    for (const Bid& bid : side) {
      if (bid.high != side[0].high) return fail(MPI_ERR_ARG, "the processes of a group do not agree on high");
    }
  }
  const Group& local = *intercomm.local_group;
  const Group& remote = *intercomm.remote_group;
  const bool local_first = ours[0].high != theirs[0].high ? theirs[0].high : leads(local, remote);
  std::vector<int> members = world_ranks_of(local_first ? local : remote);
  const std::vector<int> rest = world_ranks_of(local_first ? remote : local);
  members.insert(members.end(), rest.begin(), rest.end());
  const Context context = local_first ? ours[0].context : theirs[0].context;
  *newintracomm = handle_of<MPI_Comm>(
      *make_child(intercomm, {.context = context, .local_group = make_group(rank, std::move(members))}));
  return success;
}

}  // namespace mpi
}  // namespace heddle
