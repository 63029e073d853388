// What a rank publishes of its end: its address, and what a peer must know to see that it can be reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "network/ofi/handles.hpp"

namespace heddle::lln::ofi {

// Of an endpoint that has been enabled. Throws std::runtime_error, std::bad_alloc.
std::vector<std::byte> make_card(const fi_info* info, fid_ep* endpoint);

// The peer's address in its card. Null: it cannot be reached over this provider, and why.
const void* read_card(const fi_info* info, std::span<const std::byte> card, std::string& why);

}  // namespace heddle::lln::ofi
