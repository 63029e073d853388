// Allreduce: recursive doubling; for long vectors under a commutative operation reduce by slices, then exchange them.
//
// Every member computes the same expression with the operands in rank order, so all results are alike to the last bit,
// and non-commutative operations are right.
#include <utility>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/choose.hpp"
#include "mpi/coll/reduce_slices.hpp"
#include "objects/op/op.hpp"

namespace heddle::coll {

namespace {

// With 2^k + r members the first r pairs of neighbours first become one member each, the even one.
void allreduce_doubling(const Team& team, const BufferView& mine, const BufferView& result) {
  int core = 1;
  while (core * 2 <= team.size) core *= 2;
  const int pairs = team.size - core;
  const bool paired = team.rank < 2 * pairs;

  if (mine.data != result.data) team.copy(mine, result);
  if (paired && team.rank % 2 == 1) {
    team.send(result, team.rank - 1);
    team.fence();
    team.recv(result, team.rank - 1);
    return;
  }
  BufferView have = result;
  BufferView theirs = team.room(mine.count, *mine.type);
  const auto combine = [&](bool they_are_lower) {
    if (they_are_lower) return team.reduce(theirs, have);
    team.reduce(have, theirs);
    std::swap(have, theirs);
  };
  if (paired) {
    team.recv(theirs, team.rank + 1);
    team.fence();
    combine(false);
  }
  const int me = paired ? team.rank / 2 : team.rank - pairs;
  for (int bit = 1; bit < core; bit *= 2) {
    const int they = me ^ bit;
    const int peer = they < pairs ? 2 * they : they + pairs;
    team.recv(theirs, peer);
    team.send(have, peer);
    team.fence();
    combine(they < me);
  }
  if (paired) team.send(have, team.rank + 1);
  if (have.data != result.data) team.copy(have, result);
}

}  // namespace

void allreduce(const Team& team, const BufferView& mine, const BufferView& result) {
  if (!team.schedule.op()->commutative ||
      !choose::allreduce_by_slices(mine.bytes(), team.size, team.ranks != nullptr) || mine.count < team.size) {
    return allreduce_doubling(team, mine, result);
  }
  const auto slice_of = [&](const BufferView& whole, int i) { return even_slice(whole, i, team.size); };
  const BufferView sum = slice_of(result, team.rank);
  reduce_slices(
      team, [&](int i) { return slice_of(mine, i); }, sum);
  for (int d = 1; d < team.size; ++d) {
    team.recv(slice_of(result, team.down(d)), team.down(d));
    team.send(sum, team.up(d));
  }
}

}  // namespace heddle::coll
