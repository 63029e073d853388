// How a message travels: every threshold, with the measurement that it comes from, and the two functions that decide. The sender decides by
// plan_send() how a message leaves. The receiver of an announced message decides by plan_copy() or plan_transfer() how its data move, and
// tells the sender in the CTS, so the two ends never differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace heddle::message {

// Where a peer is.
enum class PeerKind : std::uint8_t {
  self,
  same_process,  // a rank that is another thread of this process
  same_node,     // a process of this node
  other_node,
};

// ---- thresholds, in bytes

// The longest eager message to a rank of the same process: the rendezvous saves one of two copies there, which from 4 KiB on costs more than the
// CTS and the FIN (docs/results/sizes.md). To other ranks of the node it is the length of a cell (lln::Route::eager_bytes, 16 KiB), and to other
// nodes what the network says (lln::Traits::eager; docs/adr/0074, 0085).
inline constexpr std::size_t near_eager_bytes = 4 * 1024;
// From here on both ends share the copying of a message, unless HEDDLE_SPLIT_COPY says otherwise (docs/adr/0022).
inline constexpr std::size_t split_bytes = 32 * 1024;
// What one end of a split copy claims at a time, at most and at least (docs/adr/0022).
inline constexpr std::size_t split_chunk = 128 * 1024;
inline constexpr std::size_t least_split_chunk = 16 * 1024;
// Messages of a VNI to other processes that have been staged before their receives were posted: more are announced first, so that they do
// not take the node's memory (docs/adr/0080).
inline constexpr std::size_t most_unread = 16;

// What the user asks for.
struct CopySettings {
  static constexpr std::size_t measured = std::numeric_limits<std::size_t>::max() - 1;
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  std::size_t split_from = split_bytes;  // HEDDLE_SPLIT_COPY
  std::size_t staged_from =
      measured;  // HEDDLE_STAGED_COPY; `measured`: by what has been faster so far (protocol/local/copy_tuner.hpp)
};

// ---- the sender

enum class Leaving : std::uint8_t {
  eager,         // its data at once; the send is complete when they have been copied
  acknowledged,  // its data at once; the send is complete when the receiver has matched it (synchronous mode)
  announced,     // an RTS; the data once it has matched
};

// `limit`: the longest eager message to the peer; `head`: what an acknowledged one carries before its data.
constexpr Leaving plan_send(std::size_t bytes, bool synchronous, std::size_t limit, std::size_t head) {
  if (!synchronous) return bytes <= limit ? Leaving::eager : Leaving::announced;
  return bytes + head <= limit ? Leaving::acknowledged : Leaving::announced;
}

// ---- the receiver, of a message of this node

enum class Copying : std::uint8_t { staged, by_kernel };

enum class LocalCopy : std::uint64_t {
  single,  // the receiver copies, from the sender's memory
  split,   // both copy, from the two ends
  staged,  // through a ring in shared memory, the sender packing and the receiver unpacking
};

struct CopyCase {
  std::size_t bytes;
  bool readable;  // the sender's data can be read where they are: in this process, mapped here, or by the kernel
  bool mapped;    // without the kernel
  bool runs;      // the layouts let both ends copy: each end of two processes has one run, or one end within a process
  bool busy;      // this rank has long messages of its own under way
};

// Whether both ends may share the copying.
constexpr bool can_split(const CopyCase& message, const CopySettings& settings) {
  return message.readable && message.runs && message.bytes != 0 && message.bytes >= settings.split_from;
}

// `way` is that of two processes (copy_tuner.hpp); messages that are mapped, or of one process, are never staged.
constexpr LocalCopy plan_copy(const CopyCase& message, Copying way, const CopySettings& settings) {
  if (way == Copying::staged && !message.mapped && message.bytes != 0) return LocalCopy::staged;
  return can_split(message, settings) && !message.busy ? LocalCopy::split : LocalCopy::single;
}

// ---- the receiver, of a message from another node

enum class Moving : std::uint64_t {
  not_at_all,  // there is nothing to move
  pieces,      // packets of the network
  direct,      // from buffer to buffer by the network
};

// `least`: the shortest message that the network moves directly; 0: it moves none. `run`: the receive buffer is contiguous.
constexpr Moving plan_transfer(std::size_t bytes, std::size_t least, bool run) {
  if (bytes == 0) return Moving::not_at_all;
  return least != 0 && bytes >= least && run ? Moving::direct : Moving::pieces;
}

}  // namespace heddle::message
