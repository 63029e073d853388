// Checks of names in the user's network settings: the network and its rails, also on one node, where they have no
// effect, and the devices in variables of UCX and libfabric, which those libraries ignore or refuse late.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace heddle {

// HEDDLE_LLN and HEDDLE_RAILS, before a network is opened.
Result<void> check_network(const std::string& network, const std::string& rails);

// The variables of the library of that network, which is about to be opened.
Result<void> check_devices(std::string_view network);

}  // namespace heddle
