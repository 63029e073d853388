// Allgather and allgatherv: Bruck's algorithm for small totals, otherwise each member sends its block to all others.
//
// J. Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems", 1997. A
// member holds packed blocks me, me + 1, ..., and doubles their number each round.
#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/choose.hpp"

namespace heddle::coll {

namespace {

std::size_t total_bytes(const Team& team, const Blocks& all) {
  if (all.is_regular()) return all.run(0, team.size).bytes();
  std::size_t total = 0;
  for (int i = 0; i < team.size; ++i) total += all[i].bytes();
  return total;
}

// Blocks `first`, `first` + 1, ... (modulo the size), `n` of them, that follow `before` in a packed buffer.
std::size_t bytes_of(const Team& team, const Blocks& all, int first, int n) {
  std::size_t bytes = 0;
  for (int i = 0; i < n; ++i) bytes += all[(first + i) % team.size].bytes();
  return bytes;
}

void allgather_bruck(const Team& team, const Blocks& all, std::size_t total) {
  const BufferView hold = team.raw_room(total);
  std::size_t have = all[team.rank].bytes();
  team.copy(all[team.rank], hold.part(0, static_cast<MPI_Count>(have)));
  for (int distance = 1; distance < team.size; distance *= 2) {
    const int n = std::min(distance, team.size - distance);
    const std::size_t out = bytes_of(team, all, team.rank, n);
    const std::size_t in = bytes_of(team, all, team.up(distance), n);
    team.recv(hold.part(static_cast<MPI_Count>(have), static_cast<MPI_Count>(in)), team.up(distance));
    team.send(hold.part(0, static_cast<MPI_Count>(out)), team.down(distance));
    team.fence();
    have += in;
  }
  MPI_Count at = static_cast<MPI_Count>(all[team.rank].bytes());
  for (int d = 1; d < team.size; ++d) {
    const BufferView block = all[team.up(d)];
    const auto bytes = static_cast<MPI_Count>(block.bytes());
    team.copy(hold.part(at, bytes), block);
    at += bytes;
  }
}

}  // namespace

void allgather(const Team& team, const BufferView& mine, const Blocks& all) {
  const BufferView own = all[team.rank];
  const std::size_t total = team.size == 1 ? 0 : total_bytes(team, all);
  if (team.size == 1 || choose::allgather_by_bruck(total, team.size)) {
    if (given(mine)) team.copy(mine, own);
    if (team.size != 1) allgather_bruck(team, all, total);
    return;
  }
  // The others read where this member does not write.
  const bool as_given = given(mine) && mine.bytes() == own.bytes();
  if (given(mine) && !as_given) team.copy(mine, own);
  const BufferView& sent = as_given ? mine : own;
  for (int d = 1; d < team.size; d += choose::window) {
    const int end = std::min(d + choose::window, team.size);
    for (int i = d; i < end; ++i) {
      const BufferView block = all[team.down(i)];
      if (!block.empty()) team.recv(block, team.down(i));
    }
    for (int i = d; i < end; ++i) {
      if (!sent.empty()) team.send(sent, team.up(i));
    }
    if (as_given && d == 1) team.copy(mine, own);
    team.fence();
  }
}

}  // namespace heddle::coll
