// Lanes: the VNIs over which the messages of one communicator are spread by their tags, so that threads with tags of their own share no
// VNI. The program has asserted nothing.
//
// A message and the receives with its tag have one lane, which keeps their order. MPI_ANY_TAG: any_tag.hpp. For it a sending thread that
// changes the lane towards a rank stamps its message, and the message does not leave before those that the thread has sent through the
// other lane (docs/adr/0103). A thread with one tag for each rank does nothing of that. The order of messages that different threads send
// through different lanes is not kept (MPI 5.0, section 3.5: they are concurrent).
//
// Only communicators whose ranks share one node have lanes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "messaging/engine/engine.hpp"
#include "messaging/p2p/any_tags.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/request.hpp"

namespace heddle::p2p {

class Lanes {
 public:
  // The first `count` VNIs of the engine, a power of two.
  Lanes(engine::Engine& engine, int count, Rank& rank);

  std::size_t count() const { return mask_ + 1; }
  engine::Vni& operator[](std::size_t lane) const { return *vnis_[lane]; }
  // Threads with a tag each, a communicator each, or both have different lanes, if there are twice as many lanes as threads: numbers that
  // follow each other, of tags or contexts or both, have distances of 1, 2 and 3.
  std::size_t index(std::uint64_t context, int tag) const {
    return (2 * (context / contexts_apart) + static_cast<std::uint32_t>(tag)) & mask_;
  }
  engine::Vni& of(const Comm& comm, int tag) const { return *vnis_[index(comm.context, tag)]; }

  AnyTags& any_tags() { return any_tags_; }

 private:
  std::array<engine::Vni*, lln::most_vnis> vnis_{};
  std::size_t mask_;
  AnyTags any_tags_;
};

// Messages that are spread by tag. Those of partitions are never received with wildcards, so they need no order over lanes.
constexpr bool is_over_lanes(Plane plane) { return plane == Plane::user || plane == Plane::partitioned; }

// The lanes of the program's messages on a communicator, or null. They are known after its first message.
[[gnu::always_inline]] inline const Lanes* lanes_of(const Comm& comm, Plane plane) {
  return plane == Plane::user ? comm.lanes.load(std::memory_order_acquire) : nullptr;
}

// The order of the calling thread's next message to a rank, on a communicator with lanes. Throws std::bad_alloc.
SendOrder order_on_lane(const Comm& comm, const Lanes& lanes, int world_rank, int tag);

// Starts a receive of a communicator whose messages have several VNIs.
void start_recv_on_lane(Comm& comm, Plane plane, Request& receive);

// ---- implementation

// The lane of the calling thread's last message to a rank on a communicator.
struct LastLane {
  std::uint64_t context;
  int world_rank;
  std::uint32_t number;  // of the lane, from 1; 0: there was none
};
struct LastLanes {
  static constexpr std::size_t entries = 16;
  std::array<LastLane, entries> of;
  LastLane& entry(std::uint64_t context, int world_rank) {
    return of[(context / contexts_apart + static_cast<std::uint32_t>(world_rank)) % entries];
  }
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local LastLanes last_lanes;

SendOrder order_after_change(const Comm& comm, const Lanes& lanes, int world_rank, std::uint32_t lane);

inline SendOrder order_on_lane(const Comm& comm, const Lanes& lanes, int world_rank, int tag) {
  const auto lane = static_cast<std::uint32_t>(lanes.index(comm.context, tag));
  const LastLane& last = last_lanes.entry(comm.context, world_rank);
  if (last.context == comm.context && last.world_rank == world_rank && last.number == lane + 1) [[likely]]
    return {};
  if (comm.has_promised(promise_no_any_tag)) return {};
  return order_after_change(comm, lanes, world_rank, lane);
}

}  // namespace heddle::p2p
