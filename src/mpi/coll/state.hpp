// The collectives' state of a communicator: the places of its members, the memory that those of a node share, made by
// the first operation that wants it, and the tags of its persistent operations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_set>

#include "base/threads/mutex.hpp"
#include "mpi/coll/node/region.hpp"
#include "mpi/coll/nodes.hpp"
#include "objects/object/comm.hpp"

namespace heddle::coll {

struct CommState {
  node::Offset block = node::nowhere;
  std::optional<Region> region;  // none: there was no memory left, and it is not tried again; or it was left
  bool shared = false;           // whether the region has been made, or tried to

  std::unique_ptr<const Nodes> nodes;  // null: leaders are of no use; the region is all members'
  bool placed = false;                 // whether that has been found out

  std::uint32_t persistent_made = 0;  // operations, on every member alike
  threads::Mutex mutex;
  std::unordered_set<std::uint32_t> persistent_alive;  // their numbers; under the mutex
};

// The first call makes it.
inline CommState& state_of(Comm& comm) {
  if (!comm.coll) comm.coll = new CommState;
  return *comm.coll;
}

// The region of an intracommunicator all of whose members are on one node, or null if it has none. The first call is
// collective.
Region* region_of(Comm& comm);
// The same for an operation that is about to use it: null also where one process is alone, or with an intercommunicator.
Region* region_for(Comm& comm);
// The region of the members on this node, where there are several nodes; null if there is none. The first call is collective over the
// whole communicator.
Region* node_region_of(Comm& comm, const Nodes& nodes);
// No operation uses it any more: its members disagree about their position in it.
void leave_region(Comm& comm);
// The error of a member that finds this in round `e`, where it came with `mine`: it goes by messages from then on.
Error disagree(Region& region, Comm& comm, Round e, const Signature& mine);

}  // namespace heddle::coll
