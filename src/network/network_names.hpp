// The values of HEDDLE_LLN.
#pragma once

#include <string>
#include <vector>

namespace heddle::lln {

std::vector<std::string> network_names();

}  // namespace heddle::lln
