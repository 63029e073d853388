#include "launch/boot/world.hpp"

#include <algorithm>
#include <utility>

namespace heddle::boot {

World::World(std::shared_ptr<platform::SparseMemory> segment, int rank)
    : segment_(std::move(segment)),
      header_(reinterpret_cast<JobHeader*>(segment_->start())),
      records_(rank_records(header_)),
      rank_(rank) {
  const RankRecord& own = records_[rank];
  size_ = own.world_size != 0 ? own.world_size : header_->size;
  first_ = own.world_first;
  const int node = node_of(rank);
  first_local_ = first_ranks(header_)[node];
  local_ranks_ = first_ranks(header_)[node + 1] - first_local_;
  heap_ = {memory_of_nodes() + static_cast<std::size_t>(node - header_->first_node) * header_->heap_bytes,
           header_->heap_bytes};
}

int World::node_of(int rank) const {
  const std::int32_t* const first = first_ranks(header_);
  return static_cast<int>(std::upper_bound(first, first + nodes(), rank) - first) - 1;
}

}  // namespace heddle::boot
