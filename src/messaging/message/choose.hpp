// The choice of a protocol: every threshold, with the measurement that it comes from, and the functions that decide. The sender decides
// by plan_send() how a message leaves. The receiver of an announced message decides by plan_copy() or plan_transfer() how its data move.
// It tells the sender in the CTS, so both ends always agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace heddle::message {

// The place of a peer.
enum class PeerKind : std::uint8_t {
  self,
  same_process,  // a rank that is another thread of this process
  same_node,     // a process of this node
  other_node,
};

// ---- thresholds, in bytes

// The longest eager message to a rank of the same process. There the rendezvous saves one of two copies, and from 4 KiB on that copy
// costs more than the CTS and the FIN (docs/results/sizes.md). The limit for other nodes is the network's (lln::Traits::eager; docs/adr/0074,
// 0085).
inline constexpr std::size_t near_eager_bytes = 4 * 1024;
// The same to other ranks of the node: the length of a cell of the channel (lln::Route::eager_bytes; docs/adr/0079). A message to the rank
// itself is buffered up to this length.
inline constexpr std::size_t node_eager_bytes = 16 * 1024;
// From this length on both ends share the copying of a message, unless HEDDLE_SPLIT_COPY says otherwise (docs/adr/0022).
inline constexpr std::size_t split_bytes = 32 * 1024;
// A rank with sends of its own under way copies shorter messages that it can read directly alone: its peer copies, too, and cache lines would
// move between both for each chunk (docs/adr/0099).
inline constexpr std::size_t busy_split_bytes = 1024 * 1024;
// The largest and the smallest chunk that one end of a split copy claims at a time (docs/adr/0022).
inline constexpr std::size_t split_chunk = 128 * 1024;
inline constexpr std::size_t least_split_chunk = 16 * 1024;
// With more ranks than cores, the longest message that its sender stages before the CTS (docs/adr/0080).
inline constexpr std::size_t early_stage_bytes = 256 * 1024;
// A VNI may stage this many messages to other processes before their receives are posted. It only announces further ones, so that they do
// not fill the node's memory (docs/adr/0080).
inline constexpr std::size_t most_unread = 16;

// The user's settings.
struct CopySettings {
  static constexpr std::size_t measured = std::numeric_limits<std::size_t>::max() - 1;
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  std::size_t split_from = split_bytes;  // HEDDLE_SPLIT_COPY
  std::size_t staged_from = measured;    // HEDDLE_STAGED_COPY; `measured`: as copy_tuner.hpp chooses
};

// ---- the sender

enum class Leaving : std::uint8_t {
  eager,         // the data are sent at once; the send completes when they have been copied
  acknowledged,  // the data are sent at once; the send completes when the receiver has matched it (synchronous)
  announced,     // an RTS is sent; the data follow after the match
};

// The longest eager message to a peer; `network`: the limit of the network, for other nodes.
constexpr std::size_t longest_eager(PeerKind peer, std::size_t network) {
  switch (peer) {
    case PeerKind::self:
    case PeerKind::same_node:
      return node_eager_bytes;
    case PeerKind::same_process:
      return near_eager_bytes;
    case PeerKind::other_node:
      return network;
  }
  return 0;
}

// `limit`: the longest eager message to the peer; `head`: the bytes that an acknowledged message carries before its data.
constexpr Leaving plan_send(std::size_t bytes, bool synchronous, std::size_t limit, std::size_t head) {
  if (!synchronous) return bytes <= limit ? Leaving::eager : Leaving::announced;
  return bytes + head <= limit ? Leaving::acknowledged : Leaving::announced;
}

// True if the sender of an announced message stages its data at once, unless the receiver reads them where they are.
constexpr bool plan_early(std::size_t bytes, bool oversubscribed, const CopySettings& settings) {
  if (!oversubscribed || bytes > early_stage_bytes) return false;
  return settings.staged_from == CopySettings::measured || bytes >= settings.staged_from;
}

// ---- the receiver, for a message of this node

enum class Copying : std::uint8_t { staged, by_kernel };

enum class LocalCopy : std::uint64_t {
  single,  // the receiver copies from the sender's memory
  split,   // both ends copy, starting from the two ends of the message
  staged,  // through a ring in shared memory: the sender packs and the receiver unpacks
};

struct CopyCase {
  std::size_t bytes;
  bool readable;  // the sender's data can be read in place: in this process, mapped here, or by the kernel
  bool mapped;    // they can be read in place without the kernel
  bool runs;      // the layouts let both ends copy: both buffers are contiguous, or within a process one of them
  bool busy;      // this rank has long messages of its own under way
};

// True if both ends may share the copying.
constexpr bool can_split(const CopyCase& message, const CopySettings& settings) {
  return message.readable && message.runs && message.bytes != 0 && message.bytes >= settings.split_from;
}

// `way` is the way between two processes (copy_tuner.hpp). Messages that are mapped, or within one process, are never staged.
constexpr LocalCopy plan_copy(const CopyCase& message, Copying way, const CopySettings& settings) {
  if (way == Copying::staged && !message.mapped && message.bytes != 0) return LocalCopy::staged;
  const bool alone = message.busy && !(message.mapped && message.bytes >= busy_split_bytes);
  return can_split(message, settings) && !alone ? LocalCopy::split : LocalCopy::single;
}

// ---- the receiver, for a message from another node

enum class Moving : std::uint64_t {
  not_at_all,  // the message has no data to move
  pieces,      // in packets of the network
  direct,      // the network moves them from buffer to buffer
};

// `least`: the shortest message that the network moves directly; 0: it moves none directly. `run`: the receive buffer is contiguous.
constexpr Moving plan_transfer(std::size_t bytes, std::size_t least, bool run) {
  if (bytes == 0) return Moving::not_at_all;
  return least != 0 && bytes >= least && run ? Moving::direct : Moving::pieces;
}

}  // namespace heddle::message
