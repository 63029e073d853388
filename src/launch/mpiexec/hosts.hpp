// Lists of hosts. No name is looked up; a resolver can take seconds.
#pragma once

#include <string>
#include <vector>

namespace heddle::mpiexec {

struct Host {
  std::string name;
  int slots = 0;  // ranks that it has room for; 0: it was not said
  int limit = 0;  // never more than these; 0: no such limit
};

bool is_this_machine(const std::string& host);
bool are_this_machine(const std::vector<Host>& hosts);

// Both throw UsageError at a number that is none. A host may carry slots: "node1:4".
std::vector<Host> read_hosts(const std::vector<std::string>& list);  // each mention of a host is a slot
std::vector<Host> read_host_file(const std::string& path);

// The sum; 0: there is no number.
int slots_of(const std::vector<Host>& hosts);
int limit_of(const std::vector<Host>& hosts);

}  // namespace heddle::mpiexec
