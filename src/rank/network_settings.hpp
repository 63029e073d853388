// What the user has named of a network must be there: the network and its rails, on one node too, where nothing comes of them, and the
// devices that variables of UCX and libfabric name, which these libraries ignore or complain of late. What is not there is told in a
// sentence; empty: nothing is wrong.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// HEDDLE_LLN and HEDDLE_RAILS, before a network is opened.
std::string missing_network(const std::string& network, const std::string& rails);

// The variables of the library of that network, which is about to be opened.
std::string missing_device(std::string_view network);

}  // namespace heddle
