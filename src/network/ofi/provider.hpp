// Which of libfabric's providers, and which of the machine's interfaces, a rank talks over.
#pragma once

#include <vector>

#include "network/ofi/handles.hpp"

namespace heddle::lln::ofi {

// Those that can do what is needed here, the best first; never none. FI_PROVIDER and whatever else the user has set
// limits them. Throws std::runtime_error: there is none, and what to do.
std::vector<Info> find_providers();

// How far an interface's address leads: not further than this machine, to machines on the same wire, or to all.
enum class Reach { machine, wire, all };
Reach reach_of(const fi_info* info);

}  // namespace heddle::lln::ofi
