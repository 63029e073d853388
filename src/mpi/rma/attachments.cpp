#include "mpi/rma/attachments.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "mpi/rma/reach/messages.hpp"

namespace heddle::rma {

namespace {

constexpr std::uint64_t first_capacity = 4096 / sizeof(Region);  // the size of the smallest block of shared memory

node::Heap& heap_of(Window& window) { return p2p::shared_memory(*window.comm.owner); }

std::span<Region> regions(Window& window, const Attachments& attachments) {
  if (attachments.count == 0) return {};
  return {heap_of(window).reached<Region>(attachments.table, attachments.count * sizeof(Region)), attachments.count};
}

bool grow(Window& window, Attachments& attachments) {
  node::Heap& heap = heap_of(window);
  const std::uint64_t capacity = std::max(first_capacity, 2 * attachments.capacity);
  const node::Offset table = heap.allocate(capacity * sizeof(Region));
  if (table == node::nowhere) return false;
  if (attachments.capacity != 0) {
    std::memcpy(heap.at<Region>(table), heap.at<Region>(attachments.table), attachments.count * sizeof(Region));
    heap.release(attachments.table, attachments.capacity * sizeof(Region));
  }
  attachments.table = table;
  attachments.capacity = capacity;
  return true;
}

// A layout may have holes where nothing is attached: true if the regions hold all of its data.
bool cover(std::span<Region> table, const Layout& layout) {
  constexpr std::size_t batch = 64;
  iovec runs[batch];
  for (std::size_t offset = 0, bytes = 0; offset < layout.bytes(); offset += bytes) {
    const std::size_t found = segments(*layout.type, layout.at, layout.count, offset, runs, batch, bytes);
    for (const iovec& run : std::span(runs, found)) {
      const auto first = reinterpret_cast<std::uintptr_t>(run.iov_base);
      if (!cover(table, first, first + run.iov_len)) return false;
    }
  }
  return true;
}

}  // namespace

Error attach(Window& window, const void* base, MPI_Aint size) {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  const auto bytes = static_cast<std::uint64_t>(size);
  if (window.messages) return window.messages->attached.attach(base, size);
  Attachments& attachments = window.gate(window.comm.rank).attachments;
  const SharedGuard guard(attachments.mutex);
  if (overlaps(regions(window, attachments), address, bytes)) return fail_overlap(base, size);
  if (attachments.count == attachments.capacity && !grow(window, attachments))
    return fail(MPI_ERR_NO_MEM, "no shared memory left for a table of %llu attached regions",
                static_cast<unsigned long long>(attachments.count) + 1);
  ++attachments.count;
  const std::span<Region> table = regions(window, attachments);
  const auto place = first_from(table.first(table.size() - 1), address);
  std::move_backward(place, table.end() - 1, table.end());
  *place = {address, bytes};
  return success;
}

Error detach(Window& window, const void* base) {
  if (window.messages) return window.messages->attached.detach(base);
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  Attachments& attachments = window.gate(window.comm.rank).attachments;
  const SharedGuard guard(attachments.mutex);
  const std::span<Region> table = regions(window, attachments);
  const auto found = first_from(table, address);
  if (found == table.end() || found->address != address) return fail_not_attached(base);
  std::move(found + 1, table.end(), found);
  --attachments.count;
  return success;
}

Error check_attached(Window& window, int member, const Layout& layout, MPI_Aint first, MPI_Aint end) {
  if (window.messages) return success;  // the target knows
  Attachments& attachments = window.gate(member).attachments;
  const SharedGuard guard(attachments.mutex);
  const std::span<Region> table = regions(window, attachments);
  if (cover(table, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(end)) || cover(table, layout))
    return success;
  return fail(MPI_ERR_RMA_RANGE, "the %zu bytes at address 0x%llx are not all attached at rank %d", layout.bytes(),
              static_cast<unsigned long long>(first), member);
}

void release_attachments(Window& window) {
  if (window.messages) return;
  Attachments& attachments = window.gate(window.comm.rank).attachments;
  if (attachments.capacity != 0) heap_of(window).release(attachments.table, attachments.capacity * sizeof(Region));
}

}  // namespace heddle::rma
