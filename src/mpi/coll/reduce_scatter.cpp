// Reduce-scatter, with equal blocks or with counts: every owner reduces its slice; short vectors, and those under
// non-commutative operations, are reduced by rank 0 and dealt out.
#include <new>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/choose.hpp"
#include "mpi/coll/reduce_slices.hpp"
#include "objects/op/op.hpp"

namespace heddle::coll {

void reduce_scatter(const Team& team, const BufferView& mine, const BufferView& result, const Slices& slices) {
  auto* first = new (team.schedule.scratch(sizeof(MPI_Count) * static_cast<std::size_t>(team.size + 1)))
      MPI_Count[static_cast<std::size_t>(team.size + 1)];
  first[0] = 0;
  for (int i = 0; i < team.size; ++i) first[i + 1] = first[i] + slices.count(i);
  const auto slice_of = [&](const BufferView& whole, int i) { return whole.part(first[i], first[i + 1] - first[i]); };
  const BufferView own = slice_of(mine, team.rank);
  const bool in_place = mine.data == result.data;

  if (team.schedule.op()->commutative && choose::reduce_scatter_by_slices(mine.bytes(), team.size)) {
    // In place, the result's room is still needed as what it was: parts for the first members.
    const BufferView sum = in_place && own.data != result.data ? team.room(own.count, *own.type) : result;
    reduce_slices(
        team, [&](int i) { return slice_of(mine, i); }, sum);
    if (sum.data != result.data) team.copy(sum, result);
    return;
  }
  if (team.rank != 0) {
    reduce(team, mine, none, 0);
    if (own.count == 0) return;
    team.fence();
    team.recv(result, 0);
    return;
  }
  // In place too: only this member's part of the buffer may change.
  const BufferView sum = team.room(mine.count, *mine.type);
  reduce(team, mine, sum, 0);
  team.fence();
  for (int d = 1; d < team.size; ++d) {
    const BufferView part = slice_of(sum, d);
    if (part.count > 0) team.send(part, d);
  }
  team.copy(slice_of(sum, 0), result);
}

}  // namespace heddle::coll
