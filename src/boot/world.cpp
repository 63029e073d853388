#include "boot/world.hpp"

#include <sys/mman.h>

namespace heddle::boot {

World::World(void* segment, int rank)
    : header_(static_cast<JobHeader*>(segment)), records_(rank_records(header_)), rank_(rank) {
  const int node = node_of_rank(rank, nodes(), size());
  first_local_ = first_rank(node, nodes(), size());
  local_ranks_ = first_rank(node + 1, nodes(), size()) - first_local_;
  heap_ = {
      static_cast<std::byte*>(segment) + header_->heap_offset + static_cast<std::size_t>(node) * header_->heap_bytes,
      header_->heap_bytes};
  // Mostly addresses that nobody has touched, and a core dump would look at each page of them.
  madvise(heap_.data(), heap_.size(), MADV_DONTDUMP);
}

}  // namespace heddle::boot
