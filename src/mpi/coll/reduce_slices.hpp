// A vector reduced by all members together: each member reduces one slice, which it gets from all others directly.
// Moves every byte once, in rounds that depend on each other only through memory. The operation must be commutative.
#pragma once

#include <algorithm>

#include "mpi/coll/algorithms.hpp"
#include "mpi/coll/choose.hpp"

namespace heddle::coll {

// `slice(i)` is member i's part of this member's operand. `sum` is where the reduction of this member's own part goes,
// and may be that part itself.
template <class Slice>
void reduce_slices(const Team& team, Slice&& slice, const BufferView& sum) {
  const BufferView own = slice(team.rank);
  const bool apart = own.data != sum.data;  // then the first one that comes goes there
  if (apart && team.size == 1) team.copy(own, sum);
  BufferView room[choose::slices_at_a_time];
  for (int d = 1; d < team.size; d += choose::slices_at_a_time) {
    const int n = std::min(choose::slices_at_a_time, team.size - d);
    const auto is_first = [&](int i) { return apart && d == 1 && i == 0; };
    for (int i = 0; i < n && sum.count > 0; ++i) {
      if (!is_first(i) && !given(room[i])) room[i] = team.room(sum.count, *sum.type);
      team.recv(is_first(i) ? sum : room[i], team.down(d + i));
    }
    for (int i = 0; i < n; ++i) {
      const int to = team.up(d + i);
      if (const BufferView part = slice(to); part.count > 0) team.send(part, to);
    }
    team.fence();
    for (int i = 0; i < n && sum.count > 0; ++i) team.reduce(is_first(i) ? own : room[i], sum);
  }
}

}  // namespace heddle::coll
