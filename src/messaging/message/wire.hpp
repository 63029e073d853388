// What the messages of the protocols say: a type for each kind and, where they differ, for a peer of this node and for one of another node.
//
// A peer of this node shares memory with this rank and is trusted: its messages carry addresses, which it alone, or this process, follows.
// A message from another node carries names, which are looked up. What is too short, or names nothing, is refused before anything is done.
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

// Which way of copying the lower of two ranks asks the other one for (protocol/local/copy_tuner.hpp).
enum class Wish : std::uint32_t { none, staged, by_kernel };

// ---- within a node. A request is named by its address in its own process.

struct LocalRts {
  std::uint64_t bytes;         // of the message
  std::uint64_t send;          // the sender's request
  std::uint64_t run;           // where the data are, if they are one run; else 0
  node::Offset claim;          // what both ends claim the message by (protocol/local/claims.hpp); or nowhere
  std::array<Wish, 2> wishes;  // while the receiver has no long messages of its own under way, and while it has
  node::Offset stage;          // of a message that the sender stages at once; else nowhere
};

// Before the data of an acknowledged message.
struct LocalAck {
  std::uint64_t send;
  node::Offset claim;
};

struct LocalCts {
  std::uint64_t send;
  std::uint64_t receive;  // the receiver's request
  std::uint64_t run;      // of the receiver's buffer, if it is one; else 0
  std::uint64_t bytes;    // to move: the receiver may have less room than was offered
  node::Offset shared;    // the Split or the Stage
  LocalCopy copy;
};

struct LocalFin {
  std::uint64_t send;
};

// ---- between nodes. A name is a number of lln::Names, never 0.

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
  std::uint64_t stream;  // the receiver's name for the data
  std::uint64_t bytes;   // to move
  Moving moving;         // pieces or direct
};

struct RemoteFin {
  std::uint64_t send;
};

// The sender cancels a message; its envelope is in the header.
struct Retract {
  std::uint64_t send;
};
struct Retracted {
  std::uint64_t send;
  std::uint64_t withdrawn;  // 1: it had not been received, and is not; 0: it has been, or will be
};

// Before the data of a piece.
struct Piece {
  std::uint64_t stream;
  std::uint64_t position;  // of these data in the message
  std::int32_t rail;       // that it goes over
  std::uint32_t
      asks;  // so many pieces have gone over that rail, and the receiver shall say when this one has come; 0: it need not
};
struct More {
  std::uint64_t stream;
  std::int32_t rail;
  std::uint32_t come;  // `asks` of the piece
};

// ---- reading

// The start of a payload that is known to be long enough.
template <class T>
T first_of(const std::byte* payload) {
  T message;
  std::memcpy(&message, payload, sizeof message);
  return message;
}

// A whole payload; nothing: it is of another length.
template <class T>
std::optional<T> all_of(const std::byte* payload, std::size_t bytes) {
  if (bytes != sizeof(T)) return std::nullopt;
  return first_of<T>(payload);
}

// Whether a message from another node that is to be matched is well formed, in a job of so many ranks.
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
// Of a CTS from another node.
inline std::optional<RemoteCts> cts_of(const std::byte* payload, std::size_t bytes) {
  const auto cts = all_of<RemoteCts>(payload, bytes);
  if (!cts || cts->send == 0 || cts->bytes == 0) return std::nullopt;
  if (cts->moving != Moving::pieces && cts->moving != Moving::direct) return std::nullopt;
  return cts;
}

}  // namespace heddle::message
