// The processes that run an algorithm: a schedule seen through one of its channels.
#pragma once

#include "mpi/coll/schedule.hpp"

namespace heddle::coll {

struct Team {
  Schedule& schedule;
  int channel;
  int rank;
  int size;                    // of the group that the members send to
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

}  // namespace heddle::coll
