// The contents of the protocols' messages: one type for each kind, and separate types for a peer of this node and a peer of another node.
//
// A peer of this node shares memory with this rank and is trusted: its messages carry addresses. Only the peer or this process
// dereferences them. A message from another node carries names, which are looked up. A message that is too short, or has an unknown name,
// is refused before it has any effect.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/node/heap.hpp"
#include "messaging/message/choose.hpp"
#include "network/header.hpp"

namespace heddle::message {

// The copy that the lower of two ranks requests from the other one (protocol/local/copy_tuner.hpp).
enum class Wish : std::uint32_t { none, staged, by_kernel };

// ---- within a node. A request is named by its address in its own process.

struct LocalRts {
  std::uint64_t bytes;         // of the message
  std::uint64_t send;          // the sender's request
  std::uint64_t run;           // address of the data if they are contiguous; else 0
  node::Offset claim;          // the claim word of both ends (protocol/local/claims.hpp), or nowhere
  std::array<Wish, 2> wishes;  // while the receiver has no long messages of its own under way, and while it has
  node::Offset stage;          // the Stage of a message that the sender stages early; else nowhere
};

// Before the data of an acknowledged message.
struct LocalAck {
  std::uint64_t send;
  node::Offset claim;
};

struct LocalCts {
  std::uint64_t send;
  std::uint64_t receive;  // the receiver's request
  std::uint64_t run;      // address of the receive buffer if it is contiguous; else 0
  std::uint64_t bytes;    // to move: the receive buffer may be shorter than the message
  node::Offset shared;    // the Split or the Stage
  LocalCopy copy;
};

struct LocalFin {
  std::uint64_t send;
};

// ---- between nodes. A name is a number in lln::Names, never 0.

struct RemoteRts {
  std::uint64_t bytes;
  std::uint64_t send;
};

// Before the data of an acknowledged message.
struct RemoteAck {
  std::uint64_t send;
};

struct RemoteCts {
  std::uint64_t send;
  std::uint64_t stream;  // the receiver's name for the transfer
  std::uint64_t bytes;   // to move
  Moving moving;         // pieces or direct
};

struct RemoteFin {
  std::uint64_t send;
};

// The sender requests that a message be cancelled; its envelope is in the header.
struct Retract {
  std::uint64_t send;
};
struct Retracted {
  std::uint64_t send;
  std::uint64_t withdrawn;  // 1: cancelled, no receive had matched it; 0: a receive has matched it, or will
};

// Before the data of a piece.
struct Piece {
  std::uint64_t stream;
  std::uint64_t position;  // of these data in the message
  std::int32_t rail;       // the rail that carries it
  std::uint32_t asks;      // pieces sent over that rail so far, if the receiver has to acknowledge this one; else 0
};
struct More {
  std::uint64_t stream;
  std::int32_t rail;
  std::uint32_t come;  // `asks` of that piece
};

// ---- reading

// Reads the start of a payload that is known to be long enough.
template <class T>
T first_of(const std::byte* payload) {
  T message;
  std::memcpy(&message, payload, sizeof message);
  return message;
}

// Reads a whole payload. Empty: the payload has another length.
template <class T>
std::optional<T> all_of(const std::byte* payload, std::size_t bytes) {
  if (bytes != sizeof(T)) return std::nullopt;
  return first_of<T>(payload);
}

// Checks a message from another node that is to be matched. True: it is well formed, in a job of `ranks` ranks.
inline bool is_well_formed(const lln::Header& header, int ranks, const std::byte* payload, std::size_t bytes) {
  if (header.source < 0 || header.source >= ranks) return false;
  switch (header.kind) {
    case lln::MessageKind::rts: {
      const auto rts = all_of<RemoteRts>(payload, bytes);
      return rts && rts->send != 0;
    }
    case lln::MessageKind::eager_ack:
      return bytes >= sizeof(RemoteAck) && first_of<RemoteAck>(payload).send != 0;
    default:
      return header.kind == lln::MessageKind::eager;
  }
}
// Reads a CTS from another node. Empty: it is malformed.
inline std::optional<RemoteCts> cts_of(const std::byte* payload, std::size_t bytes) {
  const auto cts = all_of<RemoteCts>(payload, bytes);
  if (!cts || cts->send == 0 || cts->bytes == 0) return std::nullopt;
  if (cts->moving != Moving::pieces && cts->moving != Moving::direct) return std::nullopt;
  return cts;
}

}  // namespace heddle::message
