// The published addresses of the ends of a network, which ranks exchange before they can communicate.
#pragma once

#include <cstddef>
#include <span>

namespace heddle::lln {

class Directory {
 public:
  virtual ~Directory() = default;
  // The address that a peer's end for this VNI has published; empty: none yet.
  virtual std::span<const std::byte> find(int peer, int vni) const = 0;
  // Publishes the address of our own end, once. False: there is no room.
  virtual bool publish(int vni, std::span<const std::byte> address) = 0;
};

}  // namespace heddle::lln
