// Scan and exscan by recursive doubling: in the round of bit k a member exchanges the reduction of its run of 2^k
// members with the run beside it. Operands stay in rank order, so operations need not commute.
#include <utility>

#include "coll/algorithms.hpp"

namespace heddle::coll {

namespace {

// `result`: the reduction of those before this member (inclusive: and itself). Undefined at rank 0 if exclusive.
void prefix(const Team& team, const BufferView& mine, const BufferView& result, bool inclusive) {
  BufferView run = team.room(mine.count, *mine.type);  // the reduction of this member's run so far
  BufferView theirs = team.room(mine.count, *mine.type);
  team.copy(mine, run);
  if (inclusive && mine.data != result.data) team.copy(mine, result);
  bool begun = inclusive;
  for (int bit = 1; bit < team.size; bit *= 2) {
    const int peer = team.rank ^ bit;
    if (peer >= team.size) continue;
    team.recv(theirs, peer);
    team.send(run, peer);
    team.fence();
    if (peer < team.rank) {
      if (begun) {
        team.reduce(theirs, result);
      } else {
        team.copy(theirs, result);
      }
      begun = true;
      team.reduce(theirs, run);
    } else {
      team.reduce(run, theirs);
      std::swap(run, theirs);
    }
  }
}

}  // namespace

void scan(const Team& team, const BufferView& mine, const BufferView& result) { prefix(team, mine, result, true); }

void exscan(const Team& team, const BufferView& mine, const BufferView& result) { prefix(team, mine, result, false); }

}  // namespace heddle::coll
