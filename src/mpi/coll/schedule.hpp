// A collective operation as a list of steps. Algorithms write the steps; the schedule carries them out: at once
// (blocking), in parts whenever progress polls it (nonblocking), or repeatedly (persistent). So every algorithm is
// written once.
//
// Steps run in order. A send or receive is only started by its step; a fence waits until all that were started are
// done, and the end of the list is a fence. Between two fences receives are written before sends, so that a message
// finds its receive posted. The buffers of a step are fixed when it is written; nothing in a schedule depends on data.
//
// Every operation has a tag of its own on the communicator's collective plane, taken from a counter that all members
// advance alike, so concurrent operations never mix. Messages between two processes within one operation match in
// order; where that isn't the right order, lanes tell them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/progress/shortage.hpp"
#include "messaging/p2p/p2p.hpp"
#include "mpi/coll/buffer_view.hpp"
#include "mpi/coll/scratch.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/request.hpp"

namespace heddle {
struct Op;
}

namespace heddle::coll {

struct Step {
  enum class Kind : std::uint8_t { send, recv, copy, reduce, fence };
  Kind kind;
  std::uint8_t channel = 0;
  std::uint16_t lane = 0;
  int peer = 0;
  BufferView a{};  // the message; copy: from; reduce: the left operand
  BufferView b{};  // copy: to; reduce: the right operand, then the result
};

enum class Manner : std::uint8_t { blocking, nonblocking, persistent };

// A communicator that a schedule's messages use. An intercommunicator's operation also uses its local group's own.
struct Channel {
  Comm* comm = nullptr;
  int tag = 0;
  bool held = false;  // a persistent operation's tag, which no other may have meanwhile
};

class Schedule final : public progress::Pollable {
 public:
  static constexpr int lanes = 64;  // of a tag: directions of a Cartesian neighborhood

  // From the calling thread's pool and back to it. Taking one consumes a tag, so it happens on every member alike.
  static Schedule& take(Comm& comm, Manner manner);
  static void give_back(Schedule& schedule);

  // ---- Writing ----
  Comm& comm() const { return *channels_[0].comm; }
  Manner manner() const { return manner_; }
  // Opens the channel of the local group's communicator (intercommunicators only).
  int local_channel();
  void set_op(const Op& op) { op_ = &op; }
  // Only this process's own part has an error and is left out: the others get theirs, and this call the error.
  void refuse(Error error) {
    refusal_ = error.code();
    note(error);
  }
  Error refusal() const { return Error(refusal_); }

  void send(int channel, const BufferView& message, int to, int lane = 0);
  void recv(int channel, const BufferView& message, int from, int lane = 0);
  void copy(const BufferView& from, const BufferView& to);
  void reduce(const BufferView& left, const BufferView& right_and_result);
  void fence();

  std::byte* scratch(std::size_t bytes) { return static_cast<std::byte*>(scratch_.take(bytes)); }
  // Room for elements in the datatype's own layout.
  BufferView room(MPI_Count count, const Datatype& type);

  const std::vector<Step>& steps() const { return steps_; }
  const Op* op() const { return op_; }
  int channel_count() const { return channels_[1].comm ? 2 : 1; }
  const Channel& channel(int i) const { return channels_[i]; }

  // ---- Execution ---- Blocks until all is done; returns the first error, if any. Goes on after an error, for the
  // others' sake.
  Error run();

  // Hands it to a request, whose kind's destroy gives it back. Keeps alive the objects of the steps.
  void attach(Request& request);
  // One round of the attached request: from now on progress advances it.
  void launch();
  bool poll() override;
  int error() const { return error_; }  // of the completed round
  bool was_short_of_memory() const { return shortage_.was_too_long(); }

 private:
  Schedule() = default;
  friend struct SchedulePool;
  Channel open_channel(Comm& comm);

  void start(const Step& step);
  void send_blocking(const Step& step);
  template <class Begin>
  void attempt(Begin&& begin);
  template <class Begin>
  void persist(Begin&& begin);
  void local(const Step& step);
  void begin_to_fence();
  bool advance();
  // A process has failed, or the communicator was revoked: nothing more is begun, as all members learn that by
  // themselves. Their results would be wrong.
  bool is_broken() const { return is_fault(error_); }
  void note(Error error) {
    if (error && error_ == MPI_SUCCESS) error_ = error.code();
  }
  void release_all();
  bool next_is_fence(std::size_t i) const { return i + 1 == steps_.size() || steps_[i + 1].kind == Step::Kind::fence; }

  std::vector<Step> steps_;
  Channel channels_[2];
  const Op* op_ = nullptr;
  Scratch scratch_;

  std::size_t position_ = 0;       // the next step
  bool at_fence_ = false;          // all that stands before the fence has been begun
  std::vector<Request*> pending_;  // started and not yet found done
  progress::Shortage shortage_;
  int error_ = MPI_SUCCESS;
  int refusal_ = MPI_SUCCESS;
  Request* request_ = nullptr;  // once attached
  Manner manner_ = Manner::blocking;
  Schedule* next_free_ = nullptr;
};

// Gives a schedule back whose plan refuses, or has no memory.
struct GiveScheduleBack {
  void operator()(Schedule* schedule) const { Schedule::give_back(*schedule); }
};
class TakenSchedule : public std::unique_ptr<Schedule, GiveScheduleBack> {
 public:
  TakenSchedule() = default;
  explicit TakenSchedule(Schedule& schedule) : unique_ptr(&schedule) {}
};

// Blocking, nonblocking and persistent from one plan. A plan is `Error plan(Schedule&)`: it makes the checks that only
// it can make, and writes the steps. A nonblocking call may run its part at once, for the others' sake.
template <class Plan>
Error run(Comm& comm, Plan&& plan, Manner manner = Manner::blocking) {
  const TakenSchedule schedule(Schedule::take(comm, manner));
  if (Error error = fault_of_collective(comm)) return error;
  if (Error error = plan(*schedule)) return error;
  return schedule->run();
}

// The members of a communicator count its operations. A call that is refused before it has a schedule counts all the
// same, as the others' calls do: else all later operations on the communicator would match wrong ones.
void skip_operation(Comm& comm, Manner manner);

Error submit(TakenSchedule schedule, MPI_Request* out);

// Has its place among the communicator's operations now, and is submitted at any later time, or never.
template <class Plan>
Error reserve(Comm& comm, TakenSchedule& schedule, Plan&& plan) {
  schedule = TakenSchedule(Schedule::take(comm, Manner::nonblocking));
  if (Error error = fault_of_collective(comm)) return error;
  if (Error error = plan(*schedule)) return error;
  return schedule->refusal();
}

// A refusal of these leaves no request behind and sends nothing: the program may use its buffers freely.
template <class Plan>
Error start(Comm& comm, MPI_Request* out, Plan&& plan) {
  TakenSchedule schedule;
  if (Error error = reserve(comm, schedule, std::forward<Plan>(plan))) return error;
  return submit(std::move(schedule), out);
}

template <class Plan>
Error prepare(Comm& comm, MPI_Request* out, Plan&& plan) {
  TakenSchedule schedule(Schedule::take(comm, Manner::persistent));
  if (Error error = plan(*schedule)) return error;
  if (Error error = schedule->refusal()) return error;
  return submit(std::move(schedule), out);
}

}  // namespace heddle::coll
