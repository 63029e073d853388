// Scan and exscan by recursive doubling: in the round of bit k a member exchanges the reduction of its run of 2^k
// members with the run beside it. Operands stay in rank order, so operations need not commute.
#include <utility>

#include "mpi/coll/algorithms.hpp"

namespace heddle::coll {

namespace {

// True if a member has a round after that of `bit`: only then it needs the reduction of its run.
bool goes_on(int rank, int size, int bit) {
  for (bit *= 2; bit < size; bit *= 2)
    if ((rank ^ bit) < size) return true;
  return false;
}

// `result`: the reduction of those before this member (inclusive: and itself). Undefined at rank 0 if exclusive.
void prefix(const Team& team, const BufferView& mine, const BufferView& result, bool inclusive) {
  const auto room = [&] { return team.room(mine.count, *mine.type); };
  // The reduction of this member's run so far; where nothing is written to it, its own operand.
  BufferView run = mine;
  bool owned = false;
  const auto own = [&] {
    if (std::exchange(owned, true)) return;
    run = room();
    team.copy(mine, run);
  };
  if (mine.data == result.data) own();
  if (inclusive && mine.data != result.data) team.copy(mine, result);
  BufferView theirs = none;
  bool begun = inclusive;
  for (int bit = 1; bit < team.size; bit *= 2) {
    const int peer = team.rank ^ bit;
    if (peer >= team.size) continue;
    const bool is_lower = team.rank < peer;
    const bool needs_theirs = !is_lower || goes_on(team.rank, team.size, bit);
    if (needs_theirs) {
      if (!given(theirs)) theirs = room();
      team.recv(theirs, peer);
    }
    if (is_lower || goes_on(peer, team.size, bit)) team.send(run, peer);
    team.fence();
    if (!needs_theirs) continue;
    if (is_lower) {
      team.reduce(run, theirs);
      run = std::exchange(theirs, owned ? run : none);
      owned = true;
      continue;
    }
    if (begun) {
      team.reduce(theirs, result);
    } else {
      team.copy(theirs, result);
    }
    begun = true;
    if (!goes_on(team.rank, team.size, bit)) continue;
    own();
    team.reduce(theirs, run);
  }
}

}  // namespace

void scan(const Team& team, const BufferView& mine, const BufferView& result) { prefix(team, mine, result, true); }

void exscan(const Team& team, const BufferView& mine, const BufferView& result) { prefix(team, mine, result, false); }

}  // namespace heddle::coll
