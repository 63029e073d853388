#include "mpi/coll/leaders.hpp"

#include <algorithm>
#include <vector>

namespace heddle::coll::by_leaders {

namespace {

int size_of(const std::vector<int>& ranks) { return static_cast<int>(ranks.size()); }

// The leaders' ranks, for as long as the schedule is written and carried out.
const int* leaders_with(Schedule& schedule, const Nodes& nodes, int root) {
  if (root == no_root) return nodes.leaders.data();
  const std::size_t n = nodes.leaders.size();
  int* const ranks = reinterpret_cast<int*>(schedule.scratch(n * sizeof(int)));
  std::copy_n(nodes.leaders.data(), n, ranks);
  ranks[nodes.node_of[static_cast<std::size_t>(root)]] = root;
  return ranks;
}

}  // namespace

int leader_of(const Nodes& nodes, int root) {
  if (root == no_root || nodes.node_of[static_cast<std::size_t>(root)] != nodes.here) return 0;
  return static_cast<int>(std::lower_bound(nodes.local.begin(), nodes.local.end(), root) - nodes.local.begin());
}

Teams::Teams(Schedule& schedule, const Nodes& nodes, int root)
    : local{schedule, 0, nodes.place, size_of(nodes.local), nodes.local.data()},
      leaders{schedule, 0, nodes.here, size_of(nodes.leaders), leaders_with(schedule, nodes, root)},
      leader(leader_of(nodes, root)),
      root(root == no_root ? no_root : nodes.node_of[static_cast<std::size_t>(root)]) {}

void barrier(Schedule& schedule, const Nodes& nodes) {
  const Teams teams(schedule, nodes);
  const Team& local = teams.local;
  const BufferView signal = raw(nullptr, 0);
  if (!teams.leads()) {
    local.recv(signal, teams.leader);
    local.send(signal, teams.leader);
    return;
  }
  for (int d = 1; d < local.size; ++d) local.recv(signal, local.up(d));
  local.fence();
  coll::barrier(teams.leaders);
  for (int d = 1; d < local.size; ++d) local.send(signal, local.up(d));
}

void bcast(Schedule& schedule, const Nodes& nodes, const BufferView& message, int root) {
  const Teams teams(schedule, nodes, root);
  if (teams.leads()) coll::bcast(teams.leaders, message, teams.root);
  schedule.fence();
  coll::bcast(teams.local, message, teams.leader);
}

void reduce(Schedule& schedule, const Nodes& nodes, const BufferView& mine, const BufferView& result, int root) {
  const Teams teams(schedule, nodes, root);
  if (!teams.leads()) return coll::reduce(teams.local, mine, none, teams.leader);
  const bool alone = teams.local.size == 1;
  const BufferView sum = given(result) ? result : alone ? mine : teams.local.room(mine.count, *mine.type);
  if (!alone) coll::reduce(teams.local, mine, sum, teams.leader);
  schedule.fence();
  coll::reduce(teams.leaders, alone ? mine : sum, result, teams.root);
}

void allreduce(Schedule& schedule, const Nodes& nodes, const BufferView& mine, const BufferView& result) {
  const Teams teams(schedule, nodes);
  coll::reduce(teams.local, mine, teams.leads() ? result : none, teams.leader);
  schedule.fence();
  if (teams.leads()) coll::allreduce(teams.leaders, result, result);
  schedule.fence();
  coll::bcast(teams.local, result, teams.leader);
}

void exchange_blocks(const Teams& teams, const Nodes& nodes, const Blocks& all) {
  const Team& leaders = teams.leaders;
  const auto n = static_cast<std::size_t>(leaders.size);
  std::vector<MPI_Count> counts(n), places(n);
  for (const int node : nodes.node_of) counts[static_cast<std::size_t>(node)] += all.count;
  for (std::size_t i = 1; i < n; ++i) places[i] = places[i - 1] + counts[i - 1];
  if (nodes.consecutive)
    return coll::allgather(leaders, none,
                           Blocks::vector(all.base, Counts(counts.data()), Counts(places.data()), all.type));

  // A node's blocks become one message, in a buffer that holds them together.
  const int size = size_of(nodes.node_of);
  const BufferView together = leaders.room(all.count * size, *all.type);
  std::vector<MPI_Count> next = places;
  std::vector<BufferView> blocks;
  for (const int node : nodes.node_of) {
    MPI_Count& at = next[static_cast<std::size_t>(node)];
    blocks.push_back(together.part(at, all.count));
    at += all.count;
  }
  for (const int r : nodes.local) leaders.copy(all[r], blocks[static_cast<std::size_t>(r)]);
  coll::allgather(leaders, none,
                  Blocks::vector(together.data, Counts(counts.data()), Counts(places.data()), together.type));
  leaders.fence();
  for (int r = 0; r < size; ++r)
    if (nodes.node_of[static_cast<std::size_t>(r)] != nodes.here)
      leaders.copy(blocks[static_cast<std::size_t>(r)], all[r]);
}

void allgather(Schedule& schedule, const Nodes& nodes, const Blocks& all) {
  const Teams teams(schedule, nodes);
  const Team& local = teams.local;
  const BufferView everything = all.run(0, size_of(nodes.node_of));
  if (everything.empty()) return;
  if (teams.leads()) {
    for (int d = 1; d < local.size; ++d) {
      const int member = local.up(d);
      local.recv(all[nodes.local[static_cast<std::size_t>(member)]], member);
    }
    local.fence();
    exchange_blocks(teams, nodes, all);
  } else {
    local.send(all[nodes.local[static_cast<std::size_t>(local.rank)]], teams.leader);
  }
  local.fence();
  coll::bcast(local, everything, teams.leader);
}

}  // namespace heddle::coll::by_leaders
