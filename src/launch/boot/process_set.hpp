// A process set of the launcher, by its name (MPI 5.0, section 11.3.2).
#pragma once

#include <string>
#include <vector>

namespace heddle::boot {

struct ProcessSet {
  std::string name;
  std::vector<int> ranks;  // in the launcher's order
};

}  // namespace heddle::boot
