// What HEDDLE_LLN may name.
#pragma once

#include <string>
#include <vector>

namespace heddle::lln {

std::vector<std::string> network_names();

}  // namespace heddle::lln
