// What rank 0 says to all others through the launcher: what it is, and where it can be found. One short text of
// printable characters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/keyed_hash.hpp"

namespace heddle::boot {

using lln::Secret;

struct JobText {
  std::string kind;  // version, layout of the segment, machine: what must be the same for all ranks
  std::string host;
  std::uint64_t machine = 0;  // network/machine.hpp
  int nodes = 1;              // that its ranks pretend to be on (HEDDLE_NODES)
  Secret secret;
  std::string socket;  // the name that the first rank of each node listens at
  int port = 0;        // of rank 0; 0: it has no network
  std::vector<std::string> addresses;

  std::string encode() const;
  // Nothing: it is not such a text.
  static std::optional<JobText> decode(std::string_view text);
};

// Of this library.
std::string own_kind();
std::string own_host();
// As sentences name it.
std::string described(std::string_view kind);

}  // namespace heddle::boot
