#include "mpi/coll/inter.hpp"

#include <algorithm>

namespace heddle::coll::inter {

namespace {

constexpr int leader = 0;

// The leaders of the two groups swap.
void exchange(const Team& remote, const BufferView& out, const BufferView& in) {
  remote.recv(in, leader);
  remote.send(out, leader);
  remote.fence();
}

// Passes all blocks on from the leader.
void spread(const Team& local, const Blocks& all, int n) {
  if (all.is_regular()) return coll::bcast(local, all.run(0, n), leader);
  std::size_t total = 0;
  for (int i = 0; i < n; ++i) total += all[i].bytes();
  const BufferView packed = local.raw_room(total);
  const auto for_blocks = [&](auto&& f) {
    MPI_Count at = 0;
    for (int i = 0; i < n; ++i) {
      const BufferView block = all[i];
      const auto bytes = static_cast<MPI_Count>(block.bytes());
      f(block, packed.part(at, bytes));
      at += bytes;
    }
  };
  if (local.rank == leader)
    for_blocks([&](const BufferView& block, const BufferView& place) { local.copy(block, place); });
  coll::bcast(local, packed, leader);
  if (local.rank == leader) return;
  local.fence();
  for_blocks([&](const BufferView& block, const BufferView& place) { local.copy(place, block); });
}

// The reduction of the local group's operands, at its leader.
BufferView reduce_local_group(const Team& local, const BufferView& mine) {
  const BufferView sum = local.rank == leader ? local.room(mine.count, *mine.type) : none;
  coll::reduce(local, mine, sum, leader);
  local.fence();
  return sum;
}

}  // namespace

void barrier(Schedule& schedule) {
  const Team remote = team_of(schedule), local = local_team_of(schedule);
  const BufferView signal = local.raw_room(1), answer = local.raw_room(1);
  coll::barrier(local);
  if (local.rank == leader) exchange(remote, signal, answer);
  coll::bcast(local, answer, leader);
}

void bcast(Schedule& schedule, const BufferView& message, int root) {
  if (root == MPI_PROC_NULL || message.empty()) return;
  const Team remote = team_of(schedule);
  if (root == MPI_ROOT) return remote.send(message, leader);
  const Team local = local_team_of(schedule);
  if (local.rank == leader) {
    remote.recv(message, root);
    remote.fence();
  }
  coll::bcast(local, message, leader);
}

void gather(Schedule& schedule, const BufferView& mine, const Blocks& all, int root) {
  if (root == MPI_PROC_NULL) return;
  const Team remote = team_of(schedule);
  if (root != MPI_ROOT) {
    if (!mine.empty()) remote.send(mine, root);
    return;
  }
  for (int i = 0; i < remote.size; ++i) {
    if (const BufferView block = all[i]; !block.empty()) remote.recv(block, i);
  }
}

void scatter(Schedule& schedule, const Blocks& all, const BufferView& mine, int root) {
  if (root == MPI_PROC_NULL) return;
  const Team remote = team_of(schedule);
  if (root != MPI_ROOT) {
    if (!mine.empty()) remote.recv(mine, root);
    return;
  }
  for (int i = 0; i < remote.size; ++i) {
    if (const BufferView block = all[i]; !block.empty()) remote.send(block, i);
  }
}

void allgather(Schedule& schedule, const BufferView& mine, const Blocks& all) {
  const Team remote = team_of(schedule), local = local_team_of(schedule);
  if (local.rank == leader) {
    for (int i = 0; i < remote.size; ++i) {
      if (const BufferView block = all[i]; !block.empty()) remote.recv(block, i);
    }
  }
  if (!mine.empty()) remote.send(mine, leader);
  remote.fence();
  spread(local, all, remote.size);
}

// In round i both ends of a pair exchange: a member sends to the one i further in the larger group's numbering.
void alltoall(Schedule& schedule, const Blocks& from, const Blocks& to) {
  const Team remote = team_of(schedule);
  const int rounds = std::max(remote.size, schedule.comm().size);
  for (int i = 0; i < rounds; ++i) {
    const int source = (remote.rank - i + rounds) % rounds;
    const int dest = (remote.rank + i) % rounds;
    if (source < remote.size && !to[source].empty()) remote.recv(to[source], source);
    if (dest < remote.size && !from[dest].empty()) remote.send(from[dest], dest);
    remote.fence();
  }
}

void reduce(Schedule& schedule, const BufferView& mine, const BufferView& result, int root) {
  if (root == MPI_PROC_NULL) return;
  const Team remote = team_of(schedule);
  if (root == MPI_ROOT) return remote.recv(result, leader);
  const Team local = local_team_of(schedule);
  const BufferView sum = reduce_local_group(local, mine);
  if (local.rank == leader) remote.send(sum, root);
}

void allreduce(Schedule& schedule, const BufferView& mine, const BufferView& result) {
  const Team remote = team_of(schedule), local = local_team_of(schedule);
  const BufferView sum = reduce_local_group(local, mine);
  if (local.rank == leader) exchange(remote, sum, result);
  coll::bcast(local, result, leader);
}

void reduce_scatter(Schedule& schedule, const BufferView& mine, const BufferView& result, const Slices& slices) {
  const Team remote = team_of(schedule), local = local_team_of(schedule);
  const BufferView sum = reduce_local_group(local, mine);
  if (local.rank != leader) {
    if (result.count > 0) local.recv(result, leader);
    return;
  }
  const BufferView theirs = local.room(mine.count, *mine.type);
  exchange(remote, sum, theirs);
  MPI_Count first = 0;
  for (int i = 0; i < local.size; ++i) {
    const BufferView part = theirs.part(first, slices.count(i));
    first += part.count;
    if (part.count == 0) continue;
    if (i == leader) {
      local.copy(part, result);
    } else {
      local.send(part, i);
    }
  }
}

}  // namespace heddle::coll::inter
