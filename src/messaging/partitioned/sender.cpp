#include "messaging/partitioned/sender.hpp"

#include <sched.h>

#include <algorithm>
#include <new>

#include "launch/rank/rank.hpp"
#include "messaging/p2p/p2p.hpp"

namespace heddle::partitioned {

namespace {

void introduce(const Introduction& content, Comm& comm, int peer, int tag) {
  auto letter = std::make_unique<Letter>();
  letter->content = content;
  letter->message = &p2p::begun(p2p::isend(comm, Plane::partitioned, &letter->content, sizeof content,
                                           *predefined_datatype(MPI_BYTE), peer, tag));
  Letter::leave(std::move(letter), *comm.owner);
}

}  // namespace

constinit const RequestType Sender::type{
    .name = "partitioned send",
    .start = [](Request& request) { return static_cast<Sender*>(request.state)->start(), success; },
    .cancel = [](Request&) { return fail(MPI_ERR_REQUEST, "a partitioned send cannot be cancelled"); },
    .finish = [](Request& request, MPI_Status&) { return static_cast<Sender*>(request.state)->error(); },
    .destroy =
        [](Request& request) {
          delete static_cast<Sender*>(request.state);
          return success;
        },
    .awaited = boot::Awaited::partitions,
};

Sender::Sender(const Arguments& args, Request& request)
    : Operation(args, request),
      slots_(new Slot[static_cast<std::size_t>(args.partitions)]),
      marks_(args.partitions),
      tags_(*args.comm.owner, args.partitions),
      first_tag_(args.comm.owner->partitions_made.fetch_add(tags_.count(), std::memory_order_relaxed)),
      board_(Board::make(args.comm, args.peer, args.partitions, partition_bytes())) {
  const node::Offset place = board_ != nullptr ? board_->place() : node::nowhere;
  try {
    introduce({first_tag_, partitions(), partition_bytes(), place}, comm(), peer(), tag());
  } catch (const std::bad_alloc&) {  // no receiver will come
    if (board_ != nullptr) Board::leave(p2p::shared_memory(*comm().owner), place, partitions(), partition_bytes());
    throw;
  }
}

void Sender::start() {
  begin_round();
  ++round_;
  waiting_ = 0;
  if (partitions() == 0) launch();
}

Error Sender::ready(int low, int high) {
  for (int i = low; i <= high; ++i)
    if (Error e = mark(i)) return e;
  return success;
}

Error Sender::mark(int partition) {
  Slot& slot = slots_[static_cast<std::size_t>(partition)];
  if (slot.marked.exchange(round_, std::memory_order_relaxed) == round_)
    return fail(MPI_ERR_ARG, "partition %d is already marked ready", partition);
  if (board_ == nullptr) {
    try {
      slot.message = &send(partition);
    } catch (const std::bad_alloc&) {
      slot.marked.store(round_ - 1, std::memory_order_relaxed);
      throw;
    }
  } else {
    put(partition);
  }
  // Releases the slot to, and for the last one acquires all slots from, the other threads.
  if (!marks_.count(partition, round_)) return success;
  if (board_ != nullptr) p2p::notify(*comm().owner, comm().world_rank(peer()));
  launch();
  return success;
}

void Sender::put(int partition) const {
  pack(datatype(), element(partition * count()), count(), 0, board_->content(partition, round_), partition_bytes());
  board_->slot(partition, round_).fill(round_);
}

// Where there is no memory for it, it is tried again for a while: earlier partitions of the call have left.
Request& Sender::send(int partition) const {
  for (progress::Shortage shortage;;) {
    try {
      return p2p::begun(p2p::isend(comm(), Plane::partitioned, element(partition * count()), count(), datatype(),
                                   peer(), tags_.of(first_tag_, partition)));
    } catch (const std::bad_alloc&) {
      if (!shortage.bear()) throw;
      p2p::poll_once(*comm().owner);
      sched_yield();  // another thread may free some
    }
  }
}

bool Sender::advance() {
  if (board_ != nullptr)
    return board_->rounds().is_free(round_ + 1);  // a started round never has to wait for its slots
  for (; waiting_ < partitions(); ++waiting_) {
    Request& message = *slots_[static_cast<std::size_t>(waiting_)].message;
    if (message.done.load(std::memory_order_acquire) == 0) return false;
    collect(message);
  }
  return true;
}

}  // namespace heddle::partitioned
