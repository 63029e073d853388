#include "messaging/p2p/any_tag.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "launch/rank/rank.hpp"
#include "messaging/message/request_cache.hpp"
#include "messaging/p2p/any_tags.hpp"
#include "messaging/p2p/lanes.hpp"
#include "messaging/p2p/p2p.hpp"
#include "messaging/p2p/requests.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle::p2p {

using message::Unexpected;

void AnyTag::begin(const Comm& comm) {
  const std::lock_guard guard(mutex_);
  merges_.clear();
  for (int source = 0; source != comm.remote_size; ++source) merges_.emplace_back(lanes_.count(), passes_);
  state_ = State::begun;
  context_ = comm.context;
  home_ = nullptr;
}

void AnyTag::open() {
  {
    const std::lock_guard guard(mutex_);
    state_ = State::open;
  }
  all_.call();  // messages that arrived before are in their lanes
}

void AnyTag::close() {
  {
    const std::lock_guard guard(mutex_);
    state_ = State::closed;
  }
  all_.call();
}

bool AnyTag::is_unused() {
  const std::unique_lock guard(mutex_, std::try_to_lock);
  return guard.owns_lock() && state_ == State::unused;
}

engine::Vni& AnyTag::vni_of(const Unexpected& message) const {
  return lanes_[lanes_.index(context_, message.header.tag)];
}

// ---- receives

void AnyTag::post(Request& receive) {
  Request* completed = nullptr;
  {
    const std::lock_guard guard(mutex_);
    prepare();
    receive.any_tag.store(this, std::memory_order_relaxed);
    if (home_ != nullptr) receive.vni = home_;
    Unexpected* const message = matcher_.find_unexpected(receive.context, receive.source, receive.tag);
    if (message == nullptr) {
      matcher_.post(receive);
      ++posted_;
    } else {
      matcher_.remove_unexpected(*message);
      start(receive, *message);
      collect_completed(completed);
      call_if_left();
    }
  }
  complete(completed);
}

// Allocates the memory that the start of one receive needs. Throws std::bad_alloc.
void AnyTag::prepare() {
  if (started_.size() == started_.capacity()) started_.reserve(2 * started_.size() + 8);
  if (spare_ == nullptr) spare_ = &message::take_request();
}

void AnyTag::start(Request& receive, Unexpected& message) {
  Request& lane = *std::exchange(spare_, nullptr);
  lane.comm = receive.comm;
  lane.vni = &vni_of(message);
  lane.context = receive.context;
  lane.buffer = receive.buffer;
  lane.count = receive.count;
  lane.datatype = receive.datatype;
  lane.capacity = receive.capacity;
  lane.source = message.header.source;
  lane.tag = message.header.tag;
  lane.receives = true;
  lane.owner = Owner::library;
  lane.receive = receive.receive;
  retain(*receive.datatype);
  begin_moving(started_.emplace_back(Started{&receive, &lane, &message}));
}

void AnyTag::begin_moving(Started& one) {
  try {
    one.lane->vni->start_matched_recv(*one.lane, *one.message);
    one.message = nullptr;
    shortage_.end();
  } catch (const std::bad_alloc&) {
    if (shortage_.bear()) return;
    matcher_.add_unexpected(*std::exchange(one.message, nullptr));
    one.lane->error = MPI_ERR_NO_MEM;
    one.lane->receive.age = 0;
    p2p::complete(*one.lane);
  }
}

bool AnyTag::cancel(Request& receive) {
  {
    const std::lock_guard guard(mutex_);
    if (receive.any_tag.load(std::memory_order_relaxed) != this || !matcher_.withdraw(receive)) return false;
    --posted_;
    receive.any_tag.store(nullptr, std::memory_order_relaxed);
    receive.cancelled = true;
  }
  p2p::complete(receive);
  return true;
}

// ---- messages

// Takes everything that has arrived in the lanes. False: something is left for a next call, which goes on with the pass.
bool AnyTag::take_pass() {
  const bool begins = !std::exchange(pass_began_, true);
  bool complete = true;
  for (std::size_t lane = 0; lane != lanes_.count(); ++lane) {
    if (!lanes_[lane].is_in_use()) continue;
    complete &= lanes_[lane].take_all(context_, begins, [&](Unexpected& message) {
      merges_[static_cast<std::size_t>(message.header.source)].add(lane, message);
      ++taken_;
    });
  }
  if (!complete) return false;
  passes_.end_pass();
  pass_began_ = false;
  if (lanes_in_use() == 1) passes_.end_pass();  // no other lane has an earlier message: a second pass would find none
  return true;
}

std::size_t AnyTag::lanes_in_use() const {
  std::size_t in_use = 0;
  for (std::size_t lane = 0; lane != lanes_.count(); ++lane) in_use += lanes_[lane].is_in_use() ? 1 : 0;
  return in_use;
}

// Two passes are enough unless messages go on arriving that others may have to follow. Then the next poll goes on.
void AnyTag::take_messages() {
  constexpr int most_passes = 4;
  for (int pass = 0; pass != most_passes && (pass == 0 || taken_ != 0); ++pass) {
    (void)take_pass();
    for (auto& merge : merges_) {
      for (; merge.any(); --taken_) {
        prepare();
        Unexpected* const message = merge.take();
        if (message == nullptr) break;
        match(*message);
      }
    }
  }
}

void AnyTag::match(Unexpected& message) {
  home_ = &vni_of(message);
  Request* const receive = matcher_.take_receive(message.header);
  if (receive == nullptr) {
    matcher_.add_unexpected(message);
    notify(rank_, rank_.world_rank);  // a thread may be blocked in a probe
    return;
  }
  --posted_;
  start(*receive, message);
}

Unexpected* AnyTag::probe(int source, int tag, bool take, engine::Probed& found, engine::Vni*& vni) {
  const std::lock_guard guard(mutex_);
  if (state_ == State::open && all_.is_called()) take_messages();
  call_if_left();
  Unexpected* const message = matcher_.find_unexpected(context_, source, tag);
  if (message == nullptr) return nullptr;
  found = {message->header.source, message->header.tag, message->bytes};
  vni = &vni_of(*message);
  if (take) matcher_.remove_unexpected(*message);
  return message;
}

// ---- progress

AnyTag::Left AnyTag::poll(bool called) {
  Request* completed = nullptr;
  Left remains = Left::all;
  {
    const std::unique_lock guard(mutex_, std::try_to_lock);
    if (!guard.owns_lock()) return remains;
    const bool takes = state_ == State::open || state_ == State::closed;
    if (takes && (called || left() == Left::more)) take_messages();
    for (Started& one : started_)
      if (one.message != nullptr) begin_moving(one);
    collect_completed(completed);
    remains = left();
    if (is_over()) {
      end();
      remains = Left::over;
    }
  }
  complete(completed);
  return remains;
}

AnyTag::Left AnyTag::left() const {
  const auto waits_for_memory = [](const Started& one) { return one.message != nullptr; };
  if (taken_ != 0 || pass_began_ || std::any_of(started_.begin(), started_.end(), waits_for_memory)) return Left::more;
  return started_.empty() ? Left::nothing : Left::started;
}

// For work that a thread leaves without having polled.
void AnyTag::call_if_left() {
  if (left() != Left::nothing) all_.call();
}

// Links the requests of lanes that are done; the state of each is the receive that it stands for.
void AnyTag::collect_completed(Request*& completed) {
  std::erase_if(started_, [&](const Started& one) {
    if (one.lane->done.load(std::memory_order_acquire) == 0) return false;
    one.lane->state = one.receive;
    one.lane->next = std::exchange(completed, one.lane);
    return true;
  });
}

void AnyTag::complete(Request* completed) {
  while (completed != nullptr) {
    Request& lane = *completed;
    completed = std::exchange(lane.next, nullptr);
    Request& receive = *static_cast<Request*>(std::exchange(lane.state, nullptr));
    receive.source = lane.source;
    receive.tag = lane.tag;
    receive.bytes = lane.bytes;
    receive.error = lane.error;
    receive.receive = lane.receive;
    receive.any_tag.store(nullptr, std::memory_order_relaxed);
    give_back(lane);
    p2p::complete(receive);
  }
}

// Messages that no receive has taken go back to their lanes, as those of any communicator that was freed.
void AnyTag::end() {
  while (Unexpected* const message = matcher_.find_unexpected(context_, MPI_ANY_SOURCE, MPI_ANY_TAG)) {
    matcher_.remove_unexpected(*message);
    vni_of(*message).put_back(*message);
  }
  if (spare_ != nullptr) give_back_unstarted(*std::exchange(spare_, nullptr));
  state_ = State::unused;
}

}  // namespace heddle::p2p
