#include "rma/attachments.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace heddle::rma {

namespace {

constexpr std::uint64_t first_capacity = 4096 / sizeof(Region);  // what the smallest block of shared memory holds

lln::shm::Heap& heap_of(Window& window) { return p2p::shared_memory(*window.comm.owner); }

std::span<Region> regions(Window& window, const Attachments& attachments) {
  if (attachments.count == 0) return {};
  return {heap_of(window).at<Region>(attachments.table), attachments.count};
}

bool grow(Window& window, Attachments& attachments) {
  lln::shm::Heap& heap = heap_of(window);
  const std::uint64_t capacity = std::max(first_capacity, 2 * attachments.capacity);
  const lln::shm::Offset table = heap.allocate(capacity * sizeof(Region));
  if (table == lln::shm::nowhere) return false;
  if (attachments.capacity != 0) {
    std::memcpy(heap.at<Region>(table), heap.at<Region>(attachments.table), attachments.count * sizeof(Region));
    heap.release(attachments.table, attachments.capacity * sizeof(Region));
  }
  attachments.table = table;
  attachments.capacity = capacity;
  return true;
}

// Do regions, which do not overlap, hold all of [first, end)?
bool cover(std::span<const Region> regions, std::uint64_t first, std::uint64_t end) {
  while (first < end) {
    const auto here = std::find_if(regions.begin(), regions.end(), [&](const Region& region) {
      return region.address <= first && first - region.address < region.bytes;
    });
    if (here == regions.end()) return false;
    first = here->address + here->bytes;
  }
  return true;
}

// ... or, since a layout may have holes where nothing is attached, all of its data?
bool cover(std::span<const Region> regions, const Layout& layout) {
  constexpr std::size_t batch = 64;
  iovec runs[batch];
  for (std::size_t offset = 0, bytes = 0; offset < layout.bytes(); offset += bytes) {
    const std::size_t found = segments(*layout.type, layout.at, layout.count, offset, runs, batch, bytes);
    for (const iovec& run : std::span(runs, found)) {
      const auto first = reinterpret_cast<std::uintptr_t>(run.iov_base);
      if (!cover(regions, first, first + run.iov_len)) return false;
    }
  }
  return true;
}

}  // namespace

Error attach(Window& window, const void* base, MPI_Aint size) {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  const auto bytes = static_cast<std::uint64_t>(size);
  Attachments& attachments = window.gate(window.comm.rank).attachments;
  const SharedGuard guard(attachments.mutex);
  for (const Region& region : regions(window, attachments)) {
    if (bytes != 0 && address < region.address + region.bytes && region.address < address + bytes)
      return fail(MPI_ERR_RMA_ATTACH, "the %lld bytes at %p overlap memory that is attached already",
                  static_cast<long long>(size), base);
  }
  if (attachments.count == attachments.capacity && !grow(window, attachments))
    return fail(MPI_ERR_NO_MEM, "no shared memory left for a table of %llu attached regions",
                static_cast<unsigned long long>(attachments.count) + 1);
  heap_of(window).at<Region>(attachments.table)[attachments.count++] = {address, bytes};
  return success;
}

Error detach(Window& window, const void* base) {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  Attachments& attachments = window.gate(window.comm.rank).attachments;
  const SharedGuard guard(attachments.mutex);
  const std::span<Region> table = regions(window, attachments);
  const auto found = std::find_if(table.begin(), table.end(), [&](const Region& r) { return r.address == address; });
  if (found == table.end()) return fail(MPI_ERR_ARG, "base = %p is not the start of attached memory", base);
  *found = table.back();
  --attachments.count;
  return success;
}

Error check_attached(Window& window, int member, const Layout& layout, MPI_Aint first, MPI_Aint end) {
  Attachments& attachments = window.gate(member).attachments;
  const SharedGuard guard(attachments.mutex);
  const std::span<const Region> table = regions(window, attachments);
  if (cover(table, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(end)) || cover(table, layout))
    return success;
  return fail(MPI_ERR_RMA_RANGE, "%zu bytes from address 0x%llx on are not all attached at rank %d", layout.bytes(),
              static_cast<unsigned long long>(first), member);
}

void release_attachments(Window& window) {
  Attachments& attachments = window.gate(window.comm.rank).attachments;
  if (attachments.capacity != 0) heap_of(window).release(attachments.table, attachments.capacity * sizeof(Region));
}

}  // namespace heddle::rma
