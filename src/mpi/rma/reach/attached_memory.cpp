#include "mpi/rma/reach/attached_memory.hpp"

#include <iterator>
#include <span>

namespace heddle::rma::reach {

Error AttachedMemory::attach(const void* base, MPI_Aint size) {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  const auto bytes = static_cast<std::uint64_t>(size);
  const std::lock_guard guard(mutex_);
  if (overlaps(table_, address, bytes)) return fail_overlap(base, size);
  table_.insert(table_.begin() + (first_from(table_, address) - std::span(table_).begin()), {address, bytes});
  return success;
}

Error AttachedMemory::detach(const void* base) {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  const std::lock_guard guard(mutex_);
  const auto found = first_from(table_, address) - std::span(table_).begin();
  if (found == std::ssize(table_) || table_[static_cast<std::size_t>(found)].address != address)
    return fail_not_attached(base);
  table_.erase(table_.begin() + found);
  return success;
}

}  // namespace heddle::rma::reach
