// Making and merging intercommunicators (MPI 5.0, section 7.6).
#include <algorithm>
#include <string>
#include <vector>

#include "binding/impl.hpp"
#include "coll/internal.hpp"
#include "comm/bootstrap.hpp"
#include "comm/exchange.hpp"
#include "comm/hints.hpp"
#include "comm/make_comm.hpp"
#include "object/context.hpp"
#include "object/resolve.hpp"
#include "object/tags.hpp"

namespace heddle {

namespace {

// What a leader learns from the other one, and tells its own group.
struct Remote {
  int error = MPI_SUCCESS;  // the leader could not do its part; nothing else is set then
  int size = 0;
  Context offered = 0;  // by that leader, for the intercommunicator
  Context local = 0;    // for the local group's own communicator
  std::vector<int> world_ranks;
};

std::vector<int> world_ranks_of(const Group& group) {
  std::vector<int> ranks(static_cast<std::size_t>(group.size));
  for (int r = 0; r < group.size; ++r) ranks[static_cast<std::size_t>(r)] = group.world_rank(r);
  return ranks;
}

struct Greeting {
  int size;
  Context offered;
};

// The leaders introduce their groups to each other.
Error meet(Comm& comm, int peer, int tag, const Group& local, Context offered, Remote& remote) {
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

// The leader tells its group what it has learned, or that it failed, so that nobody waits for nothing.
Error spread(Comm& local_comm, int leader, Remote& remote) {
  struct {
    int error;
    int size;
    Context offered;
    Context local;
  } fixed{remote.error, remote.size, remote.offered, remote.local};
  if (Error e = coll::bcast_bytes(local_comm, &fixed, sizeof fixed, leader)) return e;
  remote.error = fixed.error;
  remote.size = fixed.size;
  remote.offered = fixed.offered;
  remote.local = fixed.local;
  if (remote.error != MPI_SUCCESS) return success;
  remote.world_ranks.resize(static_cast<std::size_t>(remote.size));
  return coll::bcast_bytes(local_comm, remote.world_ranks.data(), remote.world_ranks.size() * sizeof(int), leader);
}

// From the local group's communicator and the leader's meeting, of which `met` is called at the leader only, with the
// context that it offers for the intercommunicator; the one of the leading group is taken.
template <class Met>
Error join_groups(Comm& local_comm, int leader, Errhandler* errhandler, int asked_model, Met&& met, Comm*& intercomm) {
  Rank& rank = *local_comm.owner;
  const Group& local = *local_comm.local_group;
  Remote remote;
  Error at_leader;
  if (local_comm.rank == leader) {
    const Context offered = fresh_context(rank, asked_model);
    at_leader = met(local, offered, remote);
    remote.error = at_leader.code();
    remote.local = fresh_context(rank);
    if (!at_leader && local.world_rank(0) < remote.world_ranks[0]) remote.offered = offered;
  }
  if (Error e = spread(local_comm, leader, remote)) return e;
  if (at_leader) return at_leader;
  if (remote.error != MPI_SUCCESS)
    return fail(remote.error, "the local leader, rank %d, failed to reach the remote group", leader);

  const RankFinder find(local);
  for (const int world_rank : remote.world_ranks) {
    if (find(world_rank) != MPI_UNDEFINED)
      return fail(MPI_ERR_COMM, "process %d of the job is in both groups", world_rank);
  }
  CommParts parts{.context = remote.offered,
                  .local_group = copy_of(local),
                  .remote_group = make_group(rank, std::move(remote.world_ranks)),
                  .local_comm = make_child(local_comm, {.context = remote.local, .local_group = copy_of(local)}),
                  .errhandler = errhandler};
  intercomm = errhandler ? make_comm(rank, parts) : make_child(local_comm, parts);
  return success;
}

// The two uses that MPI_Intercomm_create_from_groups makes of a string tag, kept apart from each other and from
// MPI_Comm_create_from_group's.
std::string tag_for(const char* stringtag, const char* use) { return std::string(use) + '\n' + stringtag; }

}  // namespace

namespace mpi {

Error Intercomm_create(Comm& local_comm, int local_leader, Comm* peer_comm, int remote_leader, int tag,
                       MPI_Comm* newintercomm) {
  const auto met = [&](const Group& local, Context offered, Remote& remote) {
    if (!peer_comm) return fail(MPI_ERR_COMM, "peer_comm is MPI_COMM_NULL at the local leader");
    if (remote_leader < 0 || remote_leader >= peer_comm->remote_size)
      return fail(MPI_ERR_RANK, "remote_leader is %d, but peer_comm has %d processes", remote_leader,
                  peer_comm->remote_size);
    if (tag < 0 || tag > tag_upper_bound) return fail(MPI_ERR_TAG, "tag is %d, MPI_TAG_UB is %d", tag, tag_upper_bound);
    return meet(*peer_comm, remote_leader, creation_tag(tag), local, offered, remote);
  };
  int model = 0;
  if (Error e = choose_model(*local_comm.owner, *local_comm.local_group, nullptr, model)) return e;
  Comm* intercomm = nullptr;
  if (Error e = join_groups(local_comm, local_leader, nullptr, model, met, intercomm)) return e;
  *newintercomm = handle_of<MPI_Comm>(*intercomm);
  return success;
}

Error Intercomm_create_from_groups(Group& local_group, int local_leader, Group* remote_group, int remote_leader,
                                   const char* stringtag, const Info* info, Errhandler& errhandler,
                                   MPI_Comm* newintercomm) {
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

  const auto met = [&](const Group& local, Context offered, Remote& remote) {
    if (!remote_group) return fail(MPI_ERR_GROUP, "remote_group is MPI_GROUP_NULL at the local leader");
    if (remote_leader < 0 || remote_leader >= remote_group->size)
      return fail(MPI_ERR_RANK, "remote_leader is %d, but remote_group has %d processes", remote_leader,
                  remote_group->size);
    // Both leaders compute the same pair.
    std::vector<int> leaders{rank.world_rank, remote_group->world_rank(remote_leader)};
    if (leaders[0] == leaders[1]) return fail(MPI_ERR_RANK, "both leaders are the same process");
    std::sort(leaders.begin(), leaders.end());
    Group* pair = make_group(rank, std::move(leaders));
    Comm* meeting = make_meeting_place(rank, *pair, tag_for(stringtag, "leaders"));
    const Error error = meet(*meeting, 1 - pair->rank, creation_tag(0), local, offered, remote);
    retire(*meeting);
    release(*pair);
    return error;
  };
  Comm* intercomm = nullptr;
  const Error error = join_groups(*local_comm, local_leader, &errhandler, model, met, intercomm);
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
