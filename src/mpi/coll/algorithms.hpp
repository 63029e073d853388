// The algorithms: each writes the steps of one collective operation for one member of a team. Arguments are checked by
// then, and MPI_IN_PLACE has been replaced; `none` stands for a piece that is absent, because it is in its place
// already or is not significant at this rank.
#pragma once

#include "mpi/coll/schedule.hpp"

namespace heddle::coll {

// The processes that an algorithm runs on: a schedule seen through one of its channels.
struct Team {
  Schedule& schedule;
  int channel;
  int rank;
  int size;                    // of the group that one sends to
  const int* ranks = nullptr;  // its members' in the channel's communicator; null: the same numbers

  void send(const BufferView& message, int to, int lane = 0) const {
    schedule.send(channel, message, in_comm(to), lane);
  }
  void recv(const BufferView& message, int from, int lane = 0) const {
    schedule.recv(channel, message, in_comm(from), lane);
  }
  void copy(const BufferView& from, const BufferView& to) const { schedule.copy(from, to); }
  void reduce(const BufferView& left, const BufferView& right_and_result) const {
    schedule.reduce(left, right_and_result);
  }
  void fence() const { schedule.fence(); }
  BufferView room(MPI_Count count, const Datatype& type) const { return schedule.room(count, type); }
  BufferView raw_room(std::size_t bytes) const { return raw(schedule.scratch(bytes), bytes); }

  int in_comm(int member) const { return ranks ? ranks[member] : member; }
  int up(int distance) const { return (rank + distance) % size; }
  int down(int distance) const { return (rank - distance % size + size) % size; }
};

// The members of an intracommunicator, or the remote group of an intercommunicator.
inline Team team_of(Schedule& schedule) {
  const Comm& comm = schedule.comm();
  return {schedule, 0, comm.rank, comm.remote_size};
}

// The local group of an intercommunicator.
inline Team local_team_of(Schedule& schedule) {
  const int channel = schedule.local_channel();
  const Comm& comm = *schedule.channel(channel).comm;
  return {schedule, channel, comm.rank, comm.size};
}

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
