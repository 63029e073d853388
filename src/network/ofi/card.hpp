// The published data of a rank's end: its address, and the data by which a peer finds out that it can be reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "network/ofi/handles.hpp"

namespace heddle::lln::ofi {

// For an enabled endpoint. Throws std::runtime_error, std::bad_alloc.
std::vector<std::byte> make_card(const fi_info* info, fid_ep* endpoint);

// The peer's address in its card. A failure: it cannot be reached over this provider.
Result<const void*> read_card(const fi_info* info, std::span<const std::byte> card);

}  // namespace heddle::lln::ofi
