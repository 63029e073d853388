// What collectives keep with a communicator: its shared memory, made by the first operation that wants it.
#pragma once

#include <optional>

#include "coll/region.hpp"
#include "object/comm.hpp"

namespace heddle::coll {

struct CommState {
  lln::shm::Offset block = lln::shm::nowhere;
  std::optional<Region> region;  // none: there was no memory left, and no one tries again; or it was left
};

// The region of an intracommunicator, or null if it has none. The first call is collective.
Region* region_of(Comm& comm);
// No operation uses it any more: its members do not agree where they are in it.
void leave_region(Comm& comm);

}  // namespace heddle::coll
