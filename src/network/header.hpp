// The envelope of a message between two ranks, the same on every low-level network.
#pragma once

#include <cstdint>

namespace heddle::lln {

inline constexpr int most_vnis = 64;  // of a rank

enum class MessageKind : std::uint8_t {
  eager = 1,  // a message with its payload
  eager_ack,  // the same in synchronous mode: the sender waits for a FIN
  rts,        // RTS of a long message (messaging/message/protocol/local/transfers.hpp)
  cts,        // to the sender: the protocol of a long message, chosen by the receiver
  fin,        // to the sender: complete (also the answer to eager_ack)
  data,       // to the receiver: a piece of a long message, where the receiver cannot fetch it
  retract,    // to the receiver on another node: the sender cancels this message, if it has not been received
  retracted,  // to the sender: whether that was so
  more,       // to the sender on another node: so much of a long message has come, and more may be sent
  credit,     // to the sender on another node: credit for received eager messages (credits.hpp)
  several,    // a packet of messages (packet.hpp)
  left,       // internal to a network: a long message has left its buffer (network.hpp)
  landed,     // internal to a network: a long message has arrived in its landing
  // internal to a network: the sender finalizes, and reports the packets that have arrived until then (membership.hpp)
  disconnect,
};

// A message whose sender has changed the lane says when (messaging/p2p/lanes.hpp): its payload ends with a stamp. Only messages that are
// to be matched have one, within a node.
inline constexpr std::uint8_t stamp_flag = 0x80;
constexpr MessageKind with_stamp(MessageKind kind) {
  return static_cast<MessageKind>(static_cast<std::uint8_t>(kind) | stamp_flag);
}
constexpr bool has_stamp(MessageKind kind) { return static_cast<std::uint8_t>(kind) >= stamp_flag; }
constexpr MessageKind without_stamp(MessageKind kind) {
  return static_cast<MessageKind>(static_cast<std::uint8_t>(kind) & ~stamp_flag);
}

// True for eager messages, which need credit to go to another node.
constexpr bool needs_credit(MessageKind kind) { return kind < MessageKind::rts; }

// True if a request always waits for a message of this kind. An answer may be for a request that its sender has
// canceled.
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
