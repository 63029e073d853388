// The memory of a piece of an operation, in the format of messages: the contiguous regions of the target's datatype,
// those of equal size and distance in one entry. So the target needs no knowledge of the datatype, and each piece is
// self-contained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/rma/reach/process_memory.hpp"
#include "mpi/rma/reach/wire.hpp"

namespace heddle::rma::reach {

// Fills `out` with the regions that hold the packed stream from `offset` on; returns their bytes, at most `bytes`, a
// multiple of `unit`, and in `used` the number of entries.
std::size_t describe(const Layout& target, std::size_t offset, std::size_t bytes, std::size_t unit,
                     std::span<Strided> out, std::uint32_t& used);

// The first byte of a region and the end of the last.
struct Bounds {
  std::int64_t first;
  std::int64_t end;
};
Bounds bounds_of(const Strided& regions);

inline std::byte* region_at(std::byte* base, std::int64_t displacement) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                      static_cast<std::uintptr_t>(displacement));
}

// Between regions, whose displacements are from `base` on, and a packed stream.
void gather(std::byte* base, std::span<const Strided> regions, std::byte* out);
void scatter(std::byte* base, std::span<const Strided> regions, const std::byte* in);

}  // namespace heddle::rma::reach
