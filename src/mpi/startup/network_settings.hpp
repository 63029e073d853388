// Checks of names in the user's network settings: the network and its rails, also on one node, where they have no
// effect, and the devices in variables of UCX and libfabric, which those libraries ignore or refuse late. A function
// returns the sentence of an error, or an empty string.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// HEDDLE_LLN and HEDDLE_RAILS, before a network is opened.
std::string missing_network(const std::string& network, const std::string& rails);

// The variables of the library of that network, which is about to be opened.
std::string missing_device(std::string_view network);

}  // namespace heddle
