// The text that rank 0 sends to all others through the launcher: the job's kind, and rank 0's addresses. Short, of
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
  std::string kind;  // version, layout of the segment, machine: must be the same for all ranks
  std::string host;
  std::uint64_t machine = 0;  // network/machine.hpp
  int nodes = 1;              // the number of simulated nodes (HEDDLE_NODES)
  Secret secret;
  std::string socket;  // the socket name of each node's first rank
  int port = 0;        // of rank 0; 0: it has no network
  std::vector<std::string> addresses;

  std::string encode() const;
  // Nothing: malformed text.
  static std::optional<JobText> decode(std::string_view text);
};

// The kind of this library.
std::string own_kind();
std::string own_host();
// A kind for use in a sentence.
std::string described(std::string_view kind);

}  // namespace heddle::boot
