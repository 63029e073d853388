// The data of the rank and the job that the state of a VNI uses. It uses no other data from outside.
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
namespace heddle::wake {
class Wake;
}

namespace heddle::message {

struct Context {
  node::Node& node;
  wake::Wake& wake;         // of the rank
  lln::Networks* networks;  // networks to other nodes; null: the job has one node
  boot::PeerMemory& peer_memory;
  boot::World* job;        // aborted if the job cannot continue; null: the process ends
  int world_rank;          // of this rank, among all processes of the job
  int ranks;               // the size of MPI_COMM_WORLD: every source is less
  int capacity;            // the largest number of ranks that the job can have; the number of peers
  bool oversubscribed;     // the machine has more ranks than cores
  bool survives_failures;  // the job continues without ranks that fail
  int strategy;            // the number of the outbox's strategy (outbox/strategy.hpp)
  CopySettings copies;
};

}  // namespace heddle::message
