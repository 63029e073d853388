// Host lists: accepted if they name this machine. No name is looked up; a resolver can take seconds.
#pragma once

#include <string>
#include <vector>

namespace heddle::boot {

// Both throw UsageError at the first host that is another machine. A host may carry slots: "node1:4".
void require_local_hosts(const std::vector<std::string>& hosts);
void require_local_hostfile(const std::string& path);

}  // namespace heddle::boot
