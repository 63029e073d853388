// A rank's end of the shared-memory network, in a heap that stands for its node's.
#pragma once

#include <cstddef>

#include "base/node/node.hpp"
#include "network/shm/endpoint.hpp"

namespace heddle::lln::shm {

class End {
 public:
  // Rank `rank` of `ranks`, whose memory is at `heap`; `for_channels` as node::Node has it.
  End(std::byte* heap, std::size_t bytes, int rank, int ranks, Claiming claiming, SlotCount slots = SlotCount::usual,
      std::size_t for_channels = 0)
      : node_(heap, bytes, {rank, ranks, 0, ranks}, box_bytes(ranks), for_channels),
        endpoint_(node_, 0, claiming, slots) {}

  // As the route does: the first message opens the way.
  template <class Fill>
  Posted post(int peer, const Header& header, std::size_t bytes, Fill&& fill) {
    if (!endpoint_.is_open(peer) && !endpoint_.open(peer)) return Posted::no_memory;
    return endpoint_.post(peer, header, bytes, fill);
  }
  Endpoint* operator->() { return &endpoint_; }
  const Endpoint* operator->() const { return &endpoint_; }

 private:
  node::Node node_;
  Endpoint endpoint_;
};

}  // namespace heddle::lln::shm
