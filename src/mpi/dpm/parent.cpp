#include "mpi/dpm/parent.hpp"

#include "mpi/comm/join_groups.hpp"
#include "mpi/comm/shown_name.hpp"
#include "mpi/dpm/everyone.hpp"

namespace heddle::dpm {

namespace {

struct Hello {
  int size;  // of the parents' group
  Context intercomm;
};

}  // namespace

Error greet_spawned(Rank& rank, Context greeting, int first_spawned, const Group& parents, Context intercomm) {
  const Everyone everyone(rank, greeting);
  const Hello hello{parents.size, intercomm};
  if (Error e = everyone.send(first_spawned, tag_hello, &hello, sizeof hello)) return e;
  const std::vector<int> ranks = world_ranks_of(parents);
  return everyone.send(first_spawned, tag_ranks, ranks.data(), ranks.size() * sizeof(int));
}

Error connect_to_parent(Rank& rank) {
  const boot::RankRecord& record = rank.job->record();
  if (record.world_size == 0) return success;
  const auto exchange = [&](const Group&, Context, Remote& remote) {
    const Everyone everyone(rank, record.greeting);
    Hello hello{};
    if (Error e = everyone.recv(record.spawned_by, tag_hello, &hello, sizeof hello)) return e;
    remote.size = hello.size;
    remote.offered = hello.intercomm;
    remote.world_ranks.resize(static_cast<std::size_t>(hello.size));
    return everyone.recv(record.spawned_by, tag_ranks, remote.world_ranks.data(),
                         remote.world_ranks.size() * sizeof(int));
  };
  if (Error e = join_groups(*rank.world, 0, nullptr, 0, exchange, rank.parent)) return e;
  rank.parent->name = "MPI_COMM_PARENT";
  show_name(*rank.parent);
  return success;
}

}  // namespace heddle::dpm
