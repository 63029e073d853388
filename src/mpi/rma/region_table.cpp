#include "mpi/rma/region_table.hpp"

#include <algorithm>

namespace heddle::rma {

namespace {

// The region that holds the byte at `address`; null if there is none. (One of no bytes holds none.)
const Region* holder(std::span<Region> table, std::uint64_t address) {
  for (auto after = std::ranges::upper_bound(table, address, {}, &Region::address); after != table.begin();) {
    --after;
    if (after->bytes != 0) return address - after->address < after->bytes ? &*after : nullptr;
  }
  return nullptr;
}

}  // namespace

std::span<Region>::iterator first_from(std::span<Region> table, std::uint64_t address) {
  return std::ranges::lower_bound(table, address, {}, &Region::address);
}

bool overlaps(std::span<Region> table, std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return false;
  const auto next = std::find_if(first_from(table, address), table.end(), [](const Region& r) { return r.bytes != 0; });
  return holder(table, address) != nullptr || (next != table.end() && next->address - address < bytes);
}

bool cover(std::span<Region> table, std::uint64_t first, std::uint64_t end) {
  while (first < end) {
    const Region* const here = holder(table, first);
    if (here == nullptr) return false;
    first = here->address + here->bytes;
  }
  return true;
}

Error fail_overlap(const void* base, MPI_Aint size) {
  return fail(MPI_ERR_RMA_ATTACH, "the %lld bytes at %p overlap memory that is attached already",
              static_cast<long long>(size), base);
}

Error fail_not_attached(const void* base) {
  return fail(MPI_ERR_ARG, "base = %p is not the start of attached memory", base);
}

}  // namespace heddle::rma
