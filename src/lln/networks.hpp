// What a rank has of the network that leads to other nodes. Which network that is, is decided in networks.cpp: who adds one adds it
// there.
#pragma once

#include <cstdint>
#include <memory>

#include "lln/directory.hpp"
#include "lln/network.hpp"
#include "lln/watch.hpp"
#include "node/node.hpp"

namespace heddle::lln {

class Networks {
 public:
  // Of rank `rank`, whose threads sleep on the doorbell. `seed` is for networks with accidents. Throws std::runtime_error.
  Networks(Directory& directory, node::Doorbell& bell, int rank, std::uint64_t seed)
      : directory_(directory), watch_(bell), rank_(rank), seed_(seed) {}

  // The end of one VNI. Throws std::runtime_error: the machine has none left.
  std::unique_ptr<Network> open(int vni);
  Watch& watch() { return watch_; }

 private:
  Directory& directory_;
  Watch watch_;
  int rank_;
  std::uint64_t seed_;
};

}  // namespace heddle::lln
