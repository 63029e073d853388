// Memory that is attached to a dynamic window, as a table: in the order of addresses, and regions do not overlap.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "objects/object/error.hpp"

namespace heddle::rma {

struct Region {
  std::uint64_t address;  // in the address space of the member
  std::uint64_t bytes;
};

// The first region that begins at `address` or behind it.
std::span<Region>::iterator first_from(std::span<Region> table, std::uint64_t address);
// True if any regions hold one of these bytes.
bool overlaps(std::span<Region> table, std::uint64_t address, std::uint64_t bytes);
// True if they hold all of [first, end).
bool cover(std::span<Region> table, std::uint64_t first, std::uint64_t end);

// The errors of attaching and detaching.
Error fail_overlap(const void* base, MPI_Aint size);
Error fail_not_attached(const void* base);

}  // namespace heddle::rma
