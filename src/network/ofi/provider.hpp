// The selection of libfabric's provider and of the machine's interface for a rank.
#pragma once

#include <vector>

#include "network/ofi/handles.hpp"

namespace heddle::lln::ofi {

// The usable providers, the best first; never none. FI_PROVIDER and the user's other settings limit them. Throws
// std::runtime_error: there is none, and the remedy.
std::vector<Info> find_providers();

// The reach of an interface's address: only this machine, machines on the same wire, or all.
enum class Reach { machine, wire, all };
Reach reach_of(const fi_info* info);

}  // namespace heddle::lln::ofi
