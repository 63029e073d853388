// What collectives keep with a communicator: its shared memory, made by the first operation that wants it, and which tags its
// persistent operations have.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>

#include "coll/region.hpp"
#include "object/comm.hpp"
#include "threads/mutex.hpp"

namespace heddle::coll {

struct CommState {
  node::Offset block = node::nowhere;
  std::optional<Region> region;  // none: there was no memory left, and no one tries again; or it was left
  bool shared = false;           // whether the region has been made, or tried to

  std::uint32_t persistent_made = 0;  // operations, on every member alike
  threads::Mutex mutex;
  std::unordered_set<std::uint32_t> persistent_alive;  // their numbers; under the mutex
};

// The first call makes it.
inline CommState& state_of(Comm& comm) {
  if (!comm.coll) comm.coll = new CommState;
  return *comm.coll;
}

// The region of an intracommunicator, or null if it has none. The first call is collective.
Region* region_of(Comm& comm);
// No operation uses it any more: its members do not agree where they are in it.
void leave_region(Comm& comm);

}  // namespace heddle::coll
