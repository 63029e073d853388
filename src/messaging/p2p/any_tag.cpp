#include "messaging/p2p/any_tag.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "launch/rank/rank.hpp"
#include "messaging/message/request_cache.hpp"
#include "messaging/message/vni_state.hpp"
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
}

// From here on each message that finds no receive in its lane wakes a blocked thread, which takes it from there.
void AnyTag::open() {
  for (std::size_t lane = 0; lane != lanes_.count(); ++lane) lanes_[lane].begin_probing();
  {
    const std::lock_guard guard(mutex_);
    state_ = State::open;
  }
  start_polling(rank_, *this);
}

void AnyTag::close() {
  const std::lock_guard guard(mutex_);
  state_ = State::closed;
}

bool AnyTag::is_unused() {
  const std::lock_guard guard(mutex_);
  return state_ == State::unused;
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
    Unexpected* const message = matcher_.find_unexpected(receive.context, receive.source, receive.tag);
    if (message == nullptr) {
      matcher_.post(receive);
      ++posted_;
    } else {
      matcher_.remove_unexpected(*message);
      start(receive, *message);
      collect_completed(completed);
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

// Any lane may have a message that no receive has taken; a hint, which is true once the thread that put a message there has gone on.
bool AnyTag::anything_there() const {
  for (std::size_t lane = 0; lane != lanes_.count(); ++lane) {
    engine::Vni& vni = lanes_[lane];
    if (vni.is_in_use() && (vni.something_to_do() || vni.state().parts().matcher.any_unexpected())) return true;
  }
  return taken_ != 0 || pass_began_;
}

// Takes everything that has arrived in the lanes. False: something is left for a next call, which goes on with the pass.
bool AnyTag::take_pass() {
  const bool begins = !std::exchange(pass_began_, true);
  bool complete = true;
  for (std::size_t lane = 0; lane != lanes_.count(); ++lane)
    complete &= lanes_[lane].take_all(context_, begins, [&](Unexpected& message) {
      merges_[static_cast<std::size_t>(message.header.source)].add(lane, message);
      ++taken_;
    });
  if (!complete) return false;
  passes_.end_pass();
  pass_began_ = false;
  return true;
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
  if (state_ == State::open && anything_there()) take_messages();
  Unexpected* const message = matcher_.find_unexpected(context_, source, tag);
  if (message == nullptr) return nullptr;
  found = {message->header.source, message->header.tag, message->bytes};
  vni = &vni_of(*message);
  if (take) matcher_.remove_unexpected(*message);
  return message;
}

// ---- progress

bool AnyTag::poll() {
  Request* completed = nullptr;
  bool over = false;
  {
    // A thread that holds the mutex may wait for the calling one, which is the communication thread of the model `offload`.
    const std::unique_lock guard(mutex_, std::try_to_lock);
    poll_again = !guard.owns_lock();
    if (poll_again) return false;
    if (state_ != State::begun && anything_there()) take_messages();
    for (Started& one : started_)
      if (one.message != nullptr) begin_moving(one);
    collect_completed(completed);
    poll_again = anything_left();
    over = is_over();
    if (over) end();
  }
  complete(completed);
  return over;
}

bool AnyTag::anything_left() const {
  const auto waits_for_memory = [](const Started& one) { return one.message != nullptr; };
  return taken_ != 0 || pass_began_ || std::any_of(started_.begin(), started_.end(), waits_for_memory);
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

// Messages that no receive has taken stay in their lanes, as those of any communicator that was freed.
void AnyTag::end() {
  while (Unexpected* const message = matcher_.find_unexpected(context_, MPI_ANY_SOURCE, MPI_ANY_TAG)) {
    matcher_.remove_unexpected(*message);
    vni_of(*message).put_back(*message);
  }
  for (std::size_t lane = 0; lane != lanes_.count(); ++lane) lanes_[lane].end_probing();
  if (spare_ != nullptr) give_back_unstarted(*std::exchange(spare_, nullptr));
  state_ = State::unused;
}

}  // namespace heddle::p2p
