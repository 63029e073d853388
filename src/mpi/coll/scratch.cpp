#include "mpi/coll/scratch.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace heddle::coll {

void* Scratch::overflow(std::size_t bytes) {
  // new's alignment is enough for every predefined datatype.
  more_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
  return more_.back().get();
}

void Scratch::shrink() {
  more_.clear();
  const std::size_t size = std::min(wanted_, keep_at_most);
  if (size <= kept_size_) return;
  Chunk chunk(new (std::nothrow) std::byte[size]);
  if (chunk == nullptr) return;  // the old one will do
  kept_ = std::move(chunk);
  kept_size_ = size;
}

}  // namespace heddle::coll
