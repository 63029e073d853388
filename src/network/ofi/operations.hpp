// Operations of libfabric in progress, with the data that they need until they are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "network/network.hpp"
#include "network/ofi/ofi.hpp"

namespace heddle::lln {

namespace ofi {

inline constexpr std::size_t eager = 8192;

// The payload of a packet that announces a long message.
struct LongAnnouncement {
  std::uint64_t landing;
  std::uint64_t bytes;
};

}  // namespace ofi

struct Ofi::Send : Operation {
  Peer* peer;
  Send* next;
  std::size_t bytes;  // of head and payload
  bool has_left;      // the part of head and payload that exists
  bool matters;
  bool may_be_injected;
  std::span<const std::byte> memory;  // the data of a long message, announced by head and payload; or empty
  std::uint64_t landing;
  std::uint64_t name;
  PacketHead head;
  std::byte payload[ofi::eager];
};

struct Ofi::Buffer : Operation {
  alignas(64) std::byte bytes[sizeof(PacketHead) + ofi::eager];
};

// A long message in flight to us.
struct Ofi::Arrival : Operation {
  Landing* landing;
  Arrival* next;
};

}  // namespace heddle::lln
