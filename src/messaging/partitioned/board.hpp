// The memory that the two sides of a partitioned message share where their ranks are on one node and its partitions are short: a slot for
// each partition of the sender. A partition is then one line that the marking thread writes and an asking thread reads, and no message.
//
// The sender may be two rounds ahead of the receiver. Source of the protocol: base/sync/round_slots.hpp.
#pragma once

#include <cstddef>
#include <memory>

#include "base/node/heap.hpp"
#include "base/platform/native.hpp"
#include "base/sync/round_slots.hpp"
#include "objects/object/comm.hpp"

namespace heddle::partitioned {

using sync::Round;

class Board {
 public:
  using Rounds = sync::SlotRounds<platform::Native>;
  using Slot = sync::RoundSlot<platform::Native>;

  // For the sender. Null: its partitions go by messages, since the peer is on another node, they are too long, or memory is short.
  static std::unique_ptr<Board> make(const Comm& comm, int peer, int partitions, std::size_t partition_bytes);
  // For the receiver, which was told of it. Throws std::bad_alloc.
  Board(node::Heap& heap, node::Offset place, int partitions, std::size_t partition_bytes);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  // Gives back the share of a receiver that has never used it.
  static void leave(node::Heap& heap, node::Offset place, int partitions, std::size_t partition_bytes);

  node::Offset place() const { return place_; }
  Rounds& rounds() const { return *heap_.at<Rounds>(place_); }
  Slot& slot(int partition, Round round) const { return *heap_.at<Slot>(place_of(partition, round)); }
  // A partition's bytes, packed.
  std::byte* content(int partition, Round round) const {
    return heap_.at<std::byte>(place_of(partition, round) + before_content);
  }

 private:
  // Longer partitions go as messages, whose receiver can copy out of the sender's buffer. Both bounds are chosen, not measured.
  static constexpr std::size_t longest_partition = 1024;
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;
  static constexpr std::size_t before_content = 16;  // the slot's number

  static std::size_t stride_of(std::size_t partition_bytes) {
    return (before_content + partition_bytes + platform::cache_line - 1) / platform::cache_line * platform::cache_line;
  }
  static std::size_t bytes_for(int partitions, std::size_t partition_bytes) {
    return platform::cache_line + Rounds::sets * static_cast<std::size_t>(partitions) * stride_of(partition_bytes);
  }
  node::Offset place_of(int partition, Round round) const {
    const auto slot = round % Rounds::sets * partitions_ + static_cast<std::size_t>(partition);
    return place_ + platform::cache_line + slot * stride_;
  }

  node::Heap& heap_;
  const node::Offset place_;
  const std::size_t partitions_;
  const std::size_t stride_;
  const std::size_t bytes_;
};

}  // namespace heddle::partitioned
