#include "coll/scratch.hpp"

#include <algorithm>

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
  kept_ = std::make_unique_for_overwrite<std::byte[]>(size);
  kept_size_ = size;
}

}  // namespace heddle::coll
