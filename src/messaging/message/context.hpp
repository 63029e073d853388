// What the state of a VNI needs to know of its rank and its job: all that it takes from outside.
#pragma once

#include <cstddef>
#include <limits>

#include "messaging/message/choose.hpp"

namespace heddle::boot {
class PeerMemory;
class World;
}  // namespace heddle::boot
namespace heddle::lln {
class Networks;
}
namespace heddle::node {
class Node;
}

namespace heddle::message {

struct Context {
  node::Node& node;
  lln::Networks* networks;  // to other nodes; null: the job has one node
  boot::PeerMemory& peer_memory;
  boot::World* job;        // ends if the job cannot go on; null: the process ends
  int world_rank;          // of this rank, among all processes of the job
  int ranks;               // of MPI_COMM_WORLD: no source is higher
  int capacity;            // ranks that the job may come to have, which number its peers
  bool oversubscribed;     // the machine has more ranks than cores
  bool survives_failures;  // the job goes on without ranks that fail
  int strategy;            // of the outbox (outbox/strategy.hpp), by its number
  CopySettings copies;
};

}  // namespace heddle::message
