// Host lists: accepted if they name this machine. No name is looked up; a resolver can take seconds.
#pragma once

#include <string>
#include <vector>

namespace heddle::mpiexec {

// How many ranks a list of hosts has room for on this machine.
struct HostSlots {
  int slots = 0;  // 0: the list gives no number
  int limit = 0;  // never more than these; 0: no such limit
};

// Both throw UsageError at the first host that is another machine, and at a number that is none. A host may carry slots:
// "node1:4". In a list each mention of a host is a slot.
HostSlots slots_of_hosts(const std::vector<std::string>& hosts);
HostSlots slots_of_host_file(const std::string& path);

}  // namespace heddle::mpiexec
