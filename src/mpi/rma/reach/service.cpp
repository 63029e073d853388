#include "mpi/rma/reach/service.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "launch/boot/join.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/p2p/p2p.hpp"
#include "mpi/rma/reach/apply.hpp"
#include "mpi/rma/reach/regions.hpp"

namespace heddle::rma::reach {

struct Service::Outgoing {
  Outgoing* next = nullptr;
  Request* send = nullptr;
  int origin = 0;
  int tag = 0;
  std::size_t bytes = 0;
  bool large = false;
  Answer answer;  // the data follow

  std::byte* data() { return reinterpret_cast<std::byte*>(&answer + 1); }
};

void Service::Discard::operator()(Outgoing* answer) const {
  answer->~Outgoing();
  ::operator delete(answer);
}

Service::Service(Comm& comm, const OwnMemory& memory)
    : comm_(comm), memory_(memory), incoming_(new Incoming[max_incoming]) {}

Service::~Service() = default;

// ---- Messages

void Service::post_receives() {
  for (; posted_ < max_incoming; ++posted_) {
    Incoming& next = incoming_[static_cast<std::size_t>((first_ + posted_) % max_incoming)];
    next.receive = &p2p::irecv(comm_, Plane::window, next.bytes, max_command, *predefined_datatype(MPI_BYTE),
                               MPI_ANY_SOURCE, command_tag);
  }
}

bool Service::poll() {
  bool moved = retire_sent();
  post_receives();
  while (posted_ != 0) {
    Incoming& next = incoming_[static_cast<std::size_t>(first_)];
    Request& receive = *next.receive;
    if (receive.done.load(std::memory_order_acquire) == 0) break;
    // Its origin waits for an answer, but is unknown.
    if (receive.error != MPI_SUCCESS)
      boot::abort(comm_.owner->job.get(), receive.error, "a message to a window was lost: there was no memory for it");
    if (!handle(receive.source, next.bytes)) break;
    p2p::give_back(receive);
    next.receive = nullptr;
    first_ = (first_ + 1) % max_incoming;
    --posted_;
    moved = true;
    post_receives();
  }
  if (released_ && grant()) moved = true;
  return send_ready() || moved;
}

bool Service::end() {
  for (; posted_ != 0; --posted_) {
    Request& receive = *incoming_[static_cast<std::size_t>((first_ + posted_ - 1) % max_incoming)].receive;
    (void)p2p::cancel(receive);
    p2p::give_back(receive);
  }
  (void)send_ready();
  (void)retire_sent();
  return ready_ == nullptr && sent_ == nullptr;
}

// ---- Answers

// Null: none of those with room for data is free.
Service::Outgoing* Service::take_answer(bool large, int origin, const Command& command) {
  Outgoing*& free = large ? free_large_ : free_small_;
  if (free == nullptr) {
    if (large && large_ == max_large) return nullptr;
    void* const memory = ::operator new(sizeof(Outgoing) + (large ? max_bytes : 0));
    OwnedOutgoing made(new (memory) Outgoing);
    made->large = large;
    answers_.push_back(std::move(made));
    large_ += large ? 1 : 0;
    free = answers_.back().get();
  }
  Outgoing* const answer = std::exchange(free, free->next);
  answer->origin = origin;
  answer->tag = static_cast<int>(command.answer_tag);
  answer->answer = {};
  return answer;
}

void Service::let_leave(Outgoing& answer, std::size_t data) {
  answer.bytes = sizeof(Answer) + data;
  answer.next = nullptr;
  Outgoing** last = &ready_;
  while (*last != nullptr) last = &(*last)->next;
  *last = &answer;
}

bool Service::send_ready() {
  bool any = false;
  while (ready_ != nullptr) {
    Outgoing& answer = *ready_;
    answer.send = &p2p::isend(comm_, Plane::window, &answer.answer, static_cast<MPI_Count>(answer.bytes),
                              *predefined_datatype(MPI_BYTE), answer.origin, answer.tag);
    ready_ = answer.next;
    answer.next = std::exchange(sent_, &answer);
    any = true;
  }
  return any;
}

bool Service::retire_sent() {
  bool any = false;
  for (Outgoing** at = &sent_; *at != nullptr;) {
    Outgoing& answer = **at;
    if (answer.send->done.load(std::memory_order_acquire) == 0) {
      at = &answer.next;
      continue;
    }
    if (answer.send->error != MPI_SUCCESS)
      boot::abort(comm_.owner->job.get(), answer.send->error, "an answer of a window could not be sent");
    p2p::give_back(*answer.send);
    *at = answer.next;
    answer.next = std::exchange(answer.large ? free_large_ : free_small_, &answer);
    any = true;
  }
  return any;
}

// ---- Commands

// False: not now. Throws std::bad_alloc before anything has happened.
bool Service::handle(int origin, const std::byte* message) {
  const Command& command = *reinterpret_cast<const Command*>(message);
  switch (command.action) {
    case Action::lock:
    case Action::try_lock:
    case Action::await_lock:
    case Action::unlock:
      return handle_lock(origin, command);
    default:
      return handle_data(origin, command, message);
  }
}

// A shared request is never delayed for an exclusive one that waits, as in target_lock.hpp.
bool Service::handle_lock(int origin, const Command& command) {
  const bool free = is_free(command.lock);
  const bool waits = command.action == Action::lock || command.action == Action::await_lock;
  if (waits && !free) return waiting_.push_back({origin, command}), true;
  Outgoing& answer = *take_answer(false, origin, command);
  if (command.action == Action::unlock) {
    holders_ -= command.lock == LockType::exclusive ? -1 : 1;
    released_ = true;
  } else if (command.action != Action::await_lock && free) {
    hold(command.lock);
    answer.answer.taken = 1;
  }
  let_leave(answer);
  return true;
}

// In the order in which they came. True if a waiting origin has got its lock.
bool Service::grant() {
  bool any = false;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    if (!is_free(next->command.lock)) {
      ++next;
      continue;
    }
    Outgoing& answer = *take_answer(false, next->origin, next->command);
    if (next->command.action == Action::lock) hold(next->command.lock);
    let_leave(answer);
    next = waiting_.erase(next);
    any = true;
  }
  released_ = false;
  return any;
}

// The origin has checked as far as it knows the memory; of a dynamic window it knows nothing.
int Service::check(std::span<const Strided> regions) const {
  for (const Strided& some : regions) {
    const Bounds bounds = bounds_of(some);
    if (memory_.attached == nullptr) {
      if (bounds.first < 0 || bounds.end > memory_.size) return MPI_ERR_RMA_RANGE;
      continue;
    }
    if (memory_.attached->covers(bounds.first, bounds.end)) continue;
    for (std::uint32_t i = 0; i < some.count; ++i) {
      const std::int64_t at = some.first + some.stride * std::int64_t{i};
      if (!memory_.attached->covers(at, at + some.bytes)) return MPI_ERR_RMA_RANGE;
    }
  }
  return MPI_SUCCESS;
}

bool Service::handle_data(int origin, const Command& command, const std::byte* message) {
  const bool fetches = command.fetches || command.action == Action::get;
  if (command.action == Action::accumulate && !scratch_) scratch_ = std::make_unique<Scratch>();
  Outgoing* const answer = take_answer(fetches, origin, command);
  if (answer == nullptr) return false;
  const std::span regions(reinterpret_cast<const Strided*>(message + sizeof(Command)), command.regions);
  const std::byte* const operand = message + operand_offset(command.regions);
  answer->answer.error = check(regions);
  if (answer->answer.error != MPI_SUCCESS) return let_leave(*answer), true;
  // A program that polls its window sees all earlier effects if it sees this one: for example two puts with a flush
  // between.
  std::atomic_thread_fence(std::memory_order_release);
  switch (command.action) {
    case Action::put:
      scatter(memory_.base, regions, operand);
      break;
    case Action::get:
      gather(memory_.base, regions, answer->data());
      break;
    case Action::accumulate:
      if (fetches) gather(memory_.base, regions, answer->data());
      accumulate(command, memory_.base, regions, operand, *scratch_);
      break;
    default:
      gather(memory_.base, regions, answer->data());
      compare_and_swap(command, memory_.base, regions, operand, answer->data());
  }
  let_leave(*answer, fetches ? command.bytes : 0);
  return true;
}

}  // namespace heddle::rma::reach
