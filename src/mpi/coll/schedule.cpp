#include "mpi/coll/schedule.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

#include "base/instruments/cells.hpp"
#include "base/platform/thread_end.hpp"
#include "messaging/p2p/requests.hpp"
#include "mpi/coll/state.hpp"
#include "objects/op/op.hpp"

namespace heddle::coll {

namespace {

// Tags count through so many operations of a manner, each of which has a range and a count of its own: blocking and
// nonblocking ones do not match (MPI 5.0, section 6.12), and where members call one of each in different orders each
// matches its like; persistent ones live long.
constexpr std::uint32_t sequences = 1u << 23;  // of blocking ones, and of nonblocking ones
constexpr std::uint32_t persistent_sequences = 1u << 24;
constexpr std::uint32_t first_persistent = 2 * sequences;

int tag_of(std::uint32_t n) { return static_cast<int>(n * Schedule::lanes); }

// The place of the next operation among all.
std::uint32_t count_operation(Comm& comm, Manner manner) {
  (void)instruments::own_cell(comm.counters);  // this thread uses the communicator
  const auto next = [](auto& count) { return count.fetch_add(1, std::memory_order_relaxed) % sequences; };
  switch (manner) {
    case Manner::blocking:
      return next(comm.blocking_collectives);
    case Manner::nonblocking:
      return sequences + next(comm.nonblocking_collectives);
    case Manner::persistent:
      break;
  }
  return first_persistent + state_of(comm).persistent_made++ % persistent_sequences;
}

// False: an operation that was made 2^24 operations ago and is not freed has it.
bool hold_tag(Comm& comm, std::uint32_t n) {
  CommState& state = state_of(comm);
  std::lock_guard guard(state.mutex);
  return state.persistent_alive.insert(n).second;
}

void let_tag_go(Channel& channel) {
  if (!channel.held) return;
  channel.held = false;
  CommState& state = state_of(*channel.comm);
  std::lock_guard guard(state.mutex);
  state.persistent_alive.erase(static_cast<std::uint32_t>(channel.tag) / Schedule::lanes);
}

Error start_persistent(Request& request) {
  static_cast<Schedule*>(request.state)->launch();
  return success;
}

Error fail_for_memory(Comm& comm) {
  const std::lock_guard guard(comm.mutex);
  const char* const name = comm.name.empty() ? "an unnamed communicator" : comm.name.c_str();
  constexpr char sentence[] =
      "out of memory for %d seconds for a message of the operation on %s, which others may wait for. Start fewer "
      "ranks, "
      "or raise the limit (ulimit -v, the container's)";
  return comm.handle != 0 ? fail_on(comm, MPI_ERR_NO_MEM, sentence, progress::Shortage::seconds, name)
                          : fail(MPI_ERR_NO_MEM, sentence, progress::Shortage::seconds, name);
}

Error fault_on(Comm& comm, int error_class) {
  const Error error = describe_fault(error_class);
  error_detail().comm = &comm;
  return error;
}

// A schedule's error is reported here and not left in the request, which does not know the message that failed.
Error finish(Request& request, MPI_Status&) {
  const auto& schedule = *static_cast<Schedule*>(request.state);
  const int error = schedule.error();
  if (error == MPI_SUCCESS) [[likely]]
    return success;
  if (is_fault(error)) return request.comm->handle != 0 ? fault_on(*request.comm, error) : describe_fault(error);
  if (error == MPI_ERR_NO_MEM && schedule.was_short_of_memory()) return fail_for_memory(*request.comm);
  const char* why =
      error == MPI_ERR_TRUNCATE ? ": it did not fit; do all processes agree on counts and datatypes?" : "";
  return request.comm->handle != 0 ? fail_on(*request.comm, error, "a message of the operation failed%s", why)
                                   : fail(error, "a message of the operation failed%s", why);
}

Error destroy(Request& request) {
  Schedule::give_back(*static_cast<Schedule*>(request.state));
  return success;
}

constexpr RequestType collective_type{.name = "collective",
                                      .start = start_persistent,
                                      .cancel = nullptr,
                                      .finish = finish,
                                      .destroy = destroy,
                                      .awaited = boot::Awaited::operation};

}  // namespace

// Schedules that this thread may take. A few are kept with all their memory.
struct SchedulePool {
  static constexpr int keep_at_most = 16;
  Schedule* free = nullptr;
  int size = 0;

  SchedulePool() = default;
  SchedulePool(const SchedulePool&) = delete;
  SchedulePool& operator=(const SchedulePool&) = delete;
  ~SchedulePool() {
    while (Schedule* schedule = free) {
      free = schedule->next_free_;
      delete schedule;
    }
  }
  Schedule& take() {
    Schedule* schedule = free;
    if (!schedule) return *new Schedule;
    free = schedule->next_free_;
    --size;
    return *schedule;
  }
  void give_back(Schedule& schedule) {
    if (size == keep_at_most) {
      delete &schedule;
      return;
    }
    schedule.next_free_ = free;
    free = &schedule;
    ++size;
  }

  // The calling thread's. Throws std::bad_alloc.
  static SchedulePool& mine() { return platform::OfThread<SchedulePool>::get(); }
};

Schedule& Schedule::take(Comm& comm, Manner manner) {
  Schedule* taken = nullptr;
  try {
    taken = &SchedulePool::mine().take();
  } catch (const std::bad_alloc&) {
    skip_operation(comm, manner);  // the others count it
    throw;
  }
  Schedule& schedule = *taken;
  schedule.manner_ = manner;
  schedule.op_ = nullptr;
  schedule.position_ = 0;
  schedule.shortage_ = {};
  schedule.error_ = schedule.refusal_ = MPI_SUCCESS;
  schedule.channels_[0] = schedule.open_channel(comm);
  schedule.channels_[1] = {};
  return schedule;
}

Channel Schedule::open_channel(Comm& comm) {
  const std::uint32_t n = count_operation(comm, manner_);
  if (manner_ != Manner::persistent) return {&comm, tag_of(n), false};
  const Channel channel{&comm, tag_of(n), hold_tag(comm, n)};
  if (!channel.held)
    refuse(fail(MPI_ERR_OTHER,
                "no tag left: the operation that was made %u persistent ones ago is not freed and has it. "
                "free it, or use a duplicate of the communicator",
                persistent_sequences));
  return channel;
}

void Schedule::give_back(Schedule& schedule) {
  for (Channel& channel : schedule.channels_) let_tag_go(channel);
  if (schedule.request_) schedule.release_all();
  schedule.request_ = nullptr;
  schedule.steps_.clear();
  schedule.scratch_.clear();
  try {
    SchedulePool::mine().give_back(schedule);
  } catch (const std::bad_alloc&) {  // another thread than the one that has taken it, and its first
    delete &schedule;
  }
}

int Schedule::local_channel() {
  if (!channels_[1].comm) {
    Comm& local = *comm().local_comm;
    channels_[1] = open_channel(local);
  }
  return 1;
}

// ---- Writing ----

void Schedule::send(int channel, const BufferView& message, int to, int lane) {
  steps_.push_back(
      {Step::Kind::send, static_cast<std::uint8_t>(channel), static_cast<std::uint16_t>(lane), to, message, {}});
}

void Schedule::recv(int channel, const BufferView& message, int from, int lane) {
  steps_.push_back(
      {Step::Kind::recv, static_cast<std::uint8_t>(channel), static_cast<std::uint16_t>(lane), from, message, {}});
}

void Schedule::copy(const BufferView& from, const BufferView& to) {
  if (from.empty() || to.empty()) return;
  steps_.push_back({Step::Kind::copy, 0, 0, 0, from, to});
}

void Schedule::reduce(const BufferView& left, const BufferView& right_and_result) {
  if (left.count == 0) return;
  steps_.push_back({Step::Kind::reduce, 0, 0, 0, left, right_and_result});
}

void Schedule::fence() {
  if (!steps_.empty() && steps_.back().kind != Step::Kind::fence) steps_.push_back({.kind = Step::Kind::fence});
}

BufferView Schedule::room(MPI_Count count, const Datatype& type) {
  if (count == 0) return piece(nullptr, 0, type);
  const MPI_Aint reach = (count - 1) * type.extent;  // from the first element to the last
  const MPI_Aint lowest = type.true_lb + std::min<MPI_Aint>(reach, 0);
  std::byte* start = scratch(static_cast<std::size_t>(std::abs(reach) + type.true_extent));
  return piece(BufferView::at(start, -lowest), count, type);
}

// ---- Carrying out ----

void Schedule::local(const Step& step) {
  if (step.kind == Step::Kind::copy) {
    heddle::coll::copy(step.a, step.b);
  } else {
    reduce_local(*op_, step.a.data, step.b.data, step.b.count, *step.b.type);
  }
}

void Schedule::start(const Step& step) {
  const Channel& channel = channels_[step.channel];
  const int tag = channel.tag + step.lane;
  const BufferView& m = step.a;
  // a request that was started always has a place
  if (pending_.size() == pending_.capacity()) pending_.reserve(2 * pending_.size() + 4);
  pending_.push_back(
      &p2p::begun(step.kind == Step::Kind::send
                      ? p2p::isend(*channel.comm, Plane::collective, m.data, m.count, *m.type, step.peer, tag)
                      : p2p::irecv(*channel.comm, Plane::collective, m.data, m.count, *m.type, step.peer, tag)));
}

void Schedule::send_blocking(const Step& step) {
  const Channel& channel = channels_[step.channel];
  const BufferView& m = step.a;
  const Error error =
      p2p::send(*channel.comm, Plane::collective, m.data, m.count, *m.type, step.peer, channel.tag + step.lane);
  if (error.code() == MPI_ERR_NO_MEM) throw std::bad_alloc();  // it has not left
  note(error);
}

// A message without memory is tried again for a while, by the catching caller: the others wait for it.
template <class Begin>
void Schedule::attempt(Begin&& begin) {
  try {
    begin();
    shortage_.end();
  } catch (const std::bad_alloc&) {
    if (shortage_.bear()) throw;
    note(Error(MPI_ERR_NO_MEM));
  }
}

template <class Begin>
void Schedule::persist(Begin&& begin) {
  for (;;) {
    try {
      return attempt(begin);
    } catch (const std::bad_alloc&) {
      p2p::poll_once(*comm().owner);
      sched_yield();  // another thread may free some
    }
  }
}

Error Schedule::run() {
  const auto finish_pending = [this] {  // for a broken one, too: their buffers are the caller's
    if (pending_.empty()) return;
    if (p2p::wait_all(pending_.data(), pending_.size())) [[unlikely]] {
      for (Request* request : pending_) note(p2p::explain(*request));
    }
    for (Request* request : pending_) p2p::give_back(*request);
    pending_.clear();
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    switch (step.kind) {
      case Step::Kind::fence:
        finish_pending();
        break;
      case Step::Kind::copy:
      case Step::Kind::reduce:
        local(step);
        break;
      default: {
        if (is_broken()) break;
        // A send that is the last before a fence may as well block: it needs no request.
        const bool blocks = step.kind == Step::Kind::send && next_is_fence(i);
        persist([&] { blocks ? send_blocking(step) : start(step); });
      }
    }
  }
  finish_pending();
  if (error_ == MPI_ERR_NO_MEM && was_short_of_memory()) [[unlikely]]
    return fail_for_memory(comm());
  return Error(error_);
}

// Begins the steps before the next fence, from where it had to stop for lack of memory.
void Schedule::begin_to_fence() {
  for (; position_ < steps_.size(); ++position_) {
    const Step& step = steps_[position_];
    switch (step.kind) {
      case Step::Kind::fence:
        ++position_;
        return;
      case Step::Kind::copy:
      case Step::Kind::reduce:
        local(step);
        break;
      default:
        if (!is_broken()) attempt([&] { start(step); });
    }
  }
}

// Goes as far as it can without waiting; true at the end.
bool Schedule::advance() {
  for (;;) {
    if (!at_fence_) begin_to_fence();
    at_fence_ = true;
    while (!pending_.empty()) {
      Request& request = *pending_.back();
      if (!request.done.load(std::memory_order_acquire)) return false;
      note(Error(request.error));
      p2p::give_back(request);
      pending_.pop_back();
    }
    if (position_ == steps_.size()) return true;
    at_fence_ = false;
  }
}

bool Schedule::poll() {
  if (!advance()) return false;
  p2p::complete(*request_);
  return true;
}

void Schedule::launch() {
  position_ = 0;
  at_fence_ = false;
  shortage_ = {};
  error_ = MPI_SUCCESS;
  request_->done.store(0, std::memory_order_relaxed);
  request_->error = MPI_SUCCESS;
  calls_user = op_ != nullptr && !op_->predefined;
  bool finished = false;
  try {
    finished = poll();
  } catch (const std::bad_alloc&) {  // progress may have better luck
  }
  if (!finished) p2p::start_polling(*comm().owner, *this);
}

void Schedule::attach(Request& request) {
  request_ = &request;
  request.state = this;
  retain(comm());
  if (op_) retain(*op_);
  for (const Step& step : steps_) {
    if (step.a.type) retain(*step.a.type);
    if (step.b.type) retain(*step.b.type);
  }
}

void Schedule::release_all() {
  for (const Step& step : steps_) {
    if (step.a.type) release(*step.a.type);
    if (step.b.type) release(*step.b.type);
  }
  if (op_) release(*op_);
  release(comm());
}

void skip_operation(Comm& comm, Manner manner) { (void)count_operation(comm, manner); }

Error submit(TakenSchedule schedule, MPI_Request* out) {
  Request& request = p2p::take_request(collective_type);
  request.persistent = schedule->manner() == Manner::persistent;
  request.comm = &schedule->comm();
  request.context = schedule->comm().context;
  schedule->attach(request);
  *out = handle_of<MPI_Request>(request);
  Schedule& attached = *schedule.release();
  if (!request.persistent) attached.launch();
  return success;
}

}  // namespace heddle::coll
