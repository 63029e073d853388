// How much address space the shared-memory transport gets. The segment is sparse, so this is a promise of
// addresses and not a use of memory; the transport decides what of it is ever touched.
#pragma once

#include <cstddef>

namespace heddle::boot {

constexpr std::size_t heap_bytes(int ranks) {
  constexpr std::size_t per_pair = std::size_t{128} << 10;
  constexpr std::size_t per_rank = std::size_t{16} << 20;
  constexpr std::size_t common = std::size_t{64} << 20;
  const auto n = static_cast<std::size_t>(ranks);
  return (n * n * per_pair + n * per_rank + common + 4095) / 4096 * 4096;
}

}  // namespace heddle::boot
