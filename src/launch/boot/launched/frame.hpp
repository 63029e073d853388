// Frames: the data that ranks exchange outside of messages, over local sockets inside a node and over TCP between
// nodes.
//
//     4 bytes   length of the rest after the first five
//     1 byte    kind
//     fields    numbers of 4 or 8 bytes, and at the end at most one text
//
// Numbers are little-endian on every machine, so that ranks of unlike machines can at least report that they are
// unlike. All input is checked: a frame that is too long or lacks fields ends its connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::boot {

enum class FrameKind : std::uint8_t {
  // From unverified peers, until they have proved that they know the secret.
  challenge = 1,  // nonce
  proof,          // hash, nonce; and back: hash

  // During the wire-up.
  local,  // rank, process, CPUs: a rank to the first one of its node
  node,   // host, ranks: the first rank of a node to the first one of the job
  // its number, number of nodes, their first ranks, the order of ranks: the placement; the answer to all of them
  nodes,
  segment,  // bytes, rank of the agent, and the descriptor beside them: the answer to a rank of the node
  refused,  // text: the job does not start

  // While it runs. Through rank 0's node they reach any other.
  agree,      // word, proposal, rank
  agreed,     // word, value, rank
  ask,        // peer, node: the node that requests the peer's card
  card,       // node, peer, offset, bytes
  published,  // rank: its card has grown
  left,       // the first rank of the node has finalized, and may close its connections
  end,        // code, milliseconds until the rank ends by itself: the job ends
  beat,       // nothing: between nodes now and then, so that the kernel notices a broken connection

  // In a job that survives failed ranks (launch/boot/decisions.hpp). A rank's proposals:
  contribute,  // rank, context, number, operation, flag, acknowledged, context of a child, and with the first the members
  revoke,      // rank, context, members
  leave,       // rank, context: it has freed the communicator
  // And the news, the same for all nodes:
  failed,     // rank
  revoked,    // context
  decided,    // context, number, verdict, flag, failures, context of a child
  forgotten,  // context: all members have left

  // Between the mpiexec of a node and the one that has started it (launch/mpiexec/nodes/), beside some of those above.
  serve,     // node: its number
  plan,      // text: the description of the job, which begins
  signal,    // number: the user has sent it to the job
  missing,   // rank: it has ended without MPI_Init
  finished,  // exit code, 1 if a rank has ended successfully: no rank is left there

  report,  // text, reason: each node reports where its threads are
};
inline constexpr std::uint8_t last_frame_kind = static_cast<std::uint8_t>(FrameKind::report);

class Frame {
 public:
  explicit Frame(FrameKind kind) : kind_(kind) {}
  Frame(FrameKind kind, std::string fields) : kind_(kind), fields_(std::move(fields)) {}

  Frame& add(std::uint32_t number) { return add_bytes(number, 4); }
  Frame& add(std::int32_t number) { return add(static_cast<std::uint32_t>(number)); }
  Frame& add(std::uint64_t number) { return add_bytes(number, 8); }
  Frame& add(std::string_view text) {
    fields_ += text;
    return *this;
  }

  FrameKind kind() const { return kind_; }
  const std::string& fields() const { return fields_; }
  std::string encode() const;

  // Takes a frame from the beginning of `bytes`; nothing: it is incomplete. `broken`: it never will be complete, or is
  // longer than `most`.
  static std::optional<Frame> take(std::string& bytes, std::size_t most, bool& broken);

  static constexpr std::size_t longest = std::size_t{16} << 20;
  static constexpr std::size_t longest_unverified = 64;

 private:
  Frame& add_bytes(std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) fields_ += static_cast<char>(number >> 8 * i & 0xff);
    return *this;
  }

  FrameKind kind_;
  std::string fields_;
};

// The fields of a frame, one after the other. After the first missing one all are 0, and complete() is false.
class Fields {
 public:
  explicit Fields(const Frame& frame) : rest_(frame.fields()) {}

  std::uint32_t number() { return static_cast<std::uint32_t>(take(4)); }
  int index() { return static_cast<int>(number()); }
  std::uint64_t long_number() { return take(8); }
  std::string_view rest() const { return rest_; }
  bool complete() const { return complete_; }

 private:
  std::uint64_t take(std::size_t bytes);

  std::string_view rest_;
  bool complete_ = true;
};

}  // namespace heddle::boot
