// The algorithms: each writes the steps of one collective operation for one member of a team. Arguments are checked by
// then, and MPI_IN_PLACE has been replaced; `none` stands for a piece that is absent, because it is in its place
// already or is not significant at this rank.
#pragma once

#include "mpi/coll/team.hpp"

namespace heddle::coll {

inline constexpr BufferView none{};
inline bool given(const BufferView& p) { return p.type != nullptr; }

void barrier(const Team& team);
void bcast(const Team& team, const BufferView& message, int root);

// `all` is significant at the root only. Every block of a regular layout has as many bytes as `mine`.
void gather(const Team& team, const BufferView& mine, const Blocks& all, int root);
void scatter(const Team& team, const Blocks& all, const BufferView& mine, int root);

// `mine` is none if it is in this member's block already.
void allgather(const Team& team, const BufferView& mine, const Blocks& all);
void alltoall(const Team& team, const Blocks& from, const Blocks& to);
// Where the own block cannot be copied: all blocks except that.
void alltoall_of_copies(const Team& team, const Blocks& from, const Blocks& to);
// With MPI_IN_PLACE: block i is sent to member i, and then replaced by the block from there.
void alltoall_in_place(const Team& team, const Blocks& blocks);

// Reductions. `mine` and `result` are the same piece for MPI_IN_PLACE, and do not overlap otherwise. `result` is
// significant at the root of reduce, and has been made for all others. The schedule's operation is used.
void reduce(const Team& team, const BufferView& mine, const BufferView& result, int root);
void allreduce(const Team& team, const BufferView& mine, const BufferView& result);
// `mine` has the slices of all members one after the other; member i's has counts(i) elements. `result` may be the
// start of `mine` (MPI_IN_PLACE).
struct Slices {
  bool regular = true;  // `each` for everyone
  MPI_Count each = 0;
  Counts counts;

  static Slices even(MPI_Count each) { return {true, each, {}}; }
  static Slices of(Counts counts) { return {false, 0, counts}; }
  MPI_Count count(int i) const { return regular ? each : counts[static_cast<std::size_t>(i)]; }
};
void reduce_scatter(const Team& team, const BufferView& mine, const BufferView& result, const Slices& slices);
void scan(const Team& team, const BufferView& mine, const BufferView& result);
void exscan(const Team& team, const BufferView& mine, const BufferView& result);

// Slice i of n of a piece, cut as evenly as elements allow.
inline BufferView even_slice(const BufferView& whole, int i, int n) {
  const MPI_Count each = whole.count / n;
  const MPI_Count rest = whole.count % n;
  return whole.part(each * i + (i < rest ? i : rest), each + (i < rest ? 1 : 0));
}

}  // namespace heddle::coll
