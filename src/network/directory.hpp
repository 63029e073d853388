// Where the ends of a network are: what ranks tell each other before they can talk.
#pragma once

#include <cstddef>
#include <span>

namespace heddle::lln {

class Directory {
 public:
  virtual ~Directory() = default;
  // What a peer's end for this VNI has published; empty: nothing yet.
  virtual std::span<const std::byte> find(int peer, int vni) const = 0;
  // The same of our own end, once. False: there is no room.
  virtual bool publish(int vni, std::span<const std::byte> address) = 0;
};

}  // namespace heddle::lln
