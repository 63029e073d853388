// The envelope of a message between two ranks, the same on every low-level network.
#pragma once

#include <cstdint>

namespace heddle::lln {

inline constexpr int most_vnis = 64;  // of a rank

enum class MessageKind : std::uint8_t {
  eager = 1,  // a message, payload with it
  eager_ack,  // the same; the sender waits to hear that it matched (synchronous mode)
  rts,        // the announcement of a long message (messaging/message/protocol/local/transfers.hpp)
  cts,        // to the sender: how the receiver wants a long message to travel
  fin,        // to the sender: done (also the answer to eager_ack)
  data,       // to the receiver: a piece of a long message, where the receiver cannot fetch it
  retract,    // to the receiver on another node: the sender cancels this message, if it has not been received
  retracted,  // to the sender: whether that was so
  more,       // to the sender on another node: so much of a long message has come, and more may be sent
  credit,     // to the sender on another node: what it has sent unasked has been received (credits.hpp)
  several,    // a packet of messages (packet.hpp)
  left,       // of the network itself: a long message has left the memory that it was posted from (network.hpp)
  landed,     // of the network itself: one has come to where it was to go
  farewell,   // of the network itself: the sender finishes, and says what has come until then (membership.hpp)
};

// Whether a message of this kind brings its data unasked: to another node that needs credit.
constexpr bool needs_credit(MessageKind kind) { return kind < MessageKind::rts; }

// Whether somebody waits for a message of this kind in any case. An answer may be for a request that its sender has given up.
constexpr bool is_awaited(MessageKind kind) {
  return kind <= MessageKind::cts || kind == MessageKind::data || kind == MessageKind::several;
}

struct Header {
  MessageKind kind;
  std::int32_t source;  // rank in the communicator
  std::int32_t tag;
  std::uint64_t context;  // communicator and plane
};

}  // namespace heddle::lln
