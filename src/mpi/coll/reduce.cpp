// Reduce: a binomial tree; for long vectors under a commutative operation each member reduces a slice and sends it to
// the root.
//
// Operations may be non-commutative, so operands are always combined in rank order: the tree's nodes then stand for
// runs of ranks and its top is rank 0, which passes the result on.
#include <utility>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/choose.hpp"
#include "mpi/coll/reduce_slices.hpp"
#include "objects/op/op.hpp"

namespace heddle::coll {

namespace {

// The reduction of all operands in `result` at the top. `top` must be 0 unless the operation is commutative.
void reduce_tree(const Team& team, const BufferView& mine, const BufferView& result, int top) {
  const int me = team.down(top);
  const bool in_place = mine.data == result.data;
  BufferView have = mine;  // reduction of the run of members from me on
  BufferView other = me == 0 && !in_place ? result : none;
  bool own = me == 0 && in_place;  // `have` is ours to write
  for (int d = 1; d < team.size; d *= 2) {
    if (me & d) return team.send(have, team.down(d));
    if (me + d >= team.size) continue;
    if (!given(other)) other = team.room(mine.count, *mine.type);
    team.recv(other, team.up(d));
    team.fence();
    team.reduce(have, other);
    std::swap(have, other);
    if (!own) other = none;
    own = true;
  }
  if (have.data != result.data) team.copy(have, result);
}

}  // namespace

void reduce(const Team& team, const BufferView& mine, const BufferView& result, int root) {
  const bool commutative = team.schedule.op()->commutative;
  if (commutative && choose::reduce_by_slices(mine.bytes(), team.size) && mine.count >= team.size) {
    const bool at_root = team.rank == root;
    const auto slice_of = [&](const BufferView& whole, int i) { return even_slice(whole, i, team.size); };
    const BufferView own = slice_of(mine, team.rank);
    const BufferView sum = at_root ? slice_of(result, team.rank) : team.room(own.count, *own.type);
    reduce_slices(
        team, [&](int i) { return slice_of(mine, i); }, sum);
    if (!at_root) {
      team.send(sum, root);
      return;
    }
    for (int d = 1; d < team.size; ++d) team.recv(slice_of(result, team.up(d)), team.up(d));
    return;
  }
  if (commutative || root == 0) return reduce_tree(team, mine, result, root);
  if (team.rank == 0) {
    const BufferView sum = team.room(mine.count, *mine.type);
    reduce_tree(team, mine, sum, 0);
    team.send(sum, root);
  } else {
    reduce_tree(team, mine, none, 0);
    if (team.rank == root) {
      team.fence();
      team.recv(result, 0);
    }
  }
}

}  // namespace heddle::coll
