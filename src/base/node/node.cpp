#include "base/node/node.hpp"

namespace heddle::node {

Node::Node(std::byte* heap, std::size_t bytes, const Place& place, std::size_t for_networks, std::size_t for_channels,
           platform::SparseMemory* memory)
    : heap_(heap, bytes, start_bytes(place.ranks) + for_networks, for_channels, memory),
      place_(place),
      bells_(heap_.at<Bell>(offset_of_bells(bytes))) {
  heap_.reach_reserved();
  platform::Native::fence_fully(true);
  if (platform::Native::heavy_fence_reaches() && !place_.is_spawned())
    census().reaching.fetch_add(1, std::memory_order_seq_cst);
  agree_on_fences();
}

}  // namespace heddle::node
