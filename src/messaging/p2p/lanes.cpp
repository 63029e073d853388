#include "messaging/p2p/lanes.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/platform/native.hpp"
#include "base/platform/thread_end.hpp"
#include "launch/rank/rank.hpp"
#include "messaging/engine/vni.hpp"
#include "messaging/message/vni_state.hpp"
#include "messaging/p2p/p2p.hpp"

namespace heddle::p2p {

Lanes::Lanes(engine::Engine& engine, int count, Rank& rank)
    : mask_(static_cast<std::size_t>(count) - 1), any_tags_(*this, rank) {
  for (std::size_t lane = 0; lane <= mask_; ++lane) vnis_[lane] = &engine.vni(static_cast<int>(lane));
}

constinit thread_local LastLanes last_lanes{};

namespace {

message::OutboxPeer& queue_of(const Lanes& lanes, const LastLane& last) {
  return lanes[last.number - 1].state().parts().outgoing.outbox().queue_of(last.world_rank);
}
bool any_waits(const Lanes& lanes, const LastLane& last) {
  const message::OutboxPeer& queue = queue_of(lanes, last);
  return !queue.has_sent(queue.appended.load(std::memory_order_relaxed));
}

// Entries that found no room in the table. They may not be lost while messages wait in their lanes.
using MoreLastLanes = platform::OfThread<std::vector<LastLane>>;
constinit thread_local std::size_t more_last_lanes = 0;  // their number, without making the vector

bool is_of(const LastLane& last, std::uint64_t context, int world_rank) {
  return last.context == context && last.world_rank == world_rank;
}

// The last lane of the thread: from the table, or else from the entries that found no room there, of which those without waiting
// messages are forgotten. Number 0: none is known, so no message waits.
LastLane last_lane(const Lanes& lanes, std::uint64_t context, int world_rank) {
  const LastLane& entry = last_lanes.entry(context, world_rank);
  if (is_of(entry, context, world_rank)) return entry;
  LastLane found{};
  if (more_last_lanes == 0) return found;
  std::vector<LastLane>& more = MoreLastLanes::get();
  std::erase_if(more, [&](const LastLane& last) {
    const bool is_it = is_of(last, context, world_rank);
    if (is_it) found = last;
    return is_it || !any_waits(lanes, last);
  });
  more_last_lanes = more.size();
  return found;
}

// Throws std::bad_alloc.
void keep(const LastLane& last) {
  std::vector<LastLane>& more = MoreLastLanes::get();
  more.push_back(last);
  more_last_lanes = more.size();
}

}  // namespace

[[gnu::noinline]] SendOrder order_after_change(const Comm& comm, const Lanes& lanes, int world_rank,
                                               std::uint32_t lane) {
  const LastLane last = last_lane(lanes, comm.context, world_rank);
  LastLane& entry = last_lanes.entry(comm.context, world_rank);
  if (entry.number != 0 && !is_of(entry, comm.context, world_rank) && any_waits(lanes, entry)) keep(entry);
  entry = {comm.context, world_rank, lane + 1};
  if (last.number == 0) return {.stamp = lln::Route::stamp()};
  lanes[last.number - 1].finish_submissions();
  lanes[last.number - 1].state().parts().route.note_claims(world_rank);
  SendOrder order{.stamp = lln::Route::stamp()};
  if (!any_waits(lanes, last)) [[likely]]
    return order;
  order.behind = &queue_of(lanes, last);
  order.entry = order.behind->appended.load(std::memory_order_relaxed);
  return order;
}

namespace {

// Posts a receive with those that use MPI_ANY_TAG. Without memory it completes with that error.
void post_any_tag(Comm& comm, Request& receive) {
  try {
    comm.owner->lanes->any_tags().of(comm).post(receive);
  } catch (const std::bad_alloc&) {
    receive.error = MPI_ERR_NO_MEM;
    receive.receive.age = 0;
    complete(receive);
  }
}

}  // namespace

void start_recv_on_lane(Comm& comm, Plane plane, Request& receive) {
  if (lanes_of(comm, plane) == nullptr) return receive.vni->start_recv(receive);
  if (receive.tag == MPI_ANY_TAG || comm.any_tag.load(std::memory_order_acquire) != nullptr) [[unlikely]]
    return post_any_tag(comm, receive);
  receive.vni->start_recv(receive);
  platform::Native::light_fence();
  // Messages in the lane may have been taken from there since, before the receive was posted.
  if (comm.any_tag.load(std::memory_order_acquire) != nullptr && receive.vni->unpost(receive)) [[unlikely]]
    post_any_tag(comm, receive);
}

}  // namespace heddle::p2p
