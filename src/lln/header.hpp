// The envelope of a message between two ranks, the same on every low-level network.
#pragma once

#include <cstdint>

namespace heddle::lln {

enum class MessageKind : std::uint8_t {
  eager = 1,  // a message, payload with it
  eager_ack,  // the same; the sender waits to hear that it matched (synchronous mode)
  rts,        // a message too long to be sent unasked: rendezvous.hpp
  cts,        // to the sender: how the receiver wants a long message to travel
  fin,        // to the sender: done (also the answer to eager_ack)
};

struct Header {
  MessageKind kind;
  std::int32_t source;  // rank in the communicator
  std::int32_t tag;
  std::uint64_t context;  // communicator and plane
};

}  // namespace heddle::lln
