// Stages by which a rank has sent, kept for its next receives from the same peers. The peer writes to such a stage, which it has just
// read, so the stage's lines are in the cache of the peer's core and each line moves between the cores once (docs/adr/0079).
//
// Memory orders: the caller's lock.
#pragma once

#include <array>
#include <cstddef>

#include "base/node/heap.hpp"

namespace heddle::message {

class KeptStages {
 public:
  static constexpr std::size_t most = 4;
  static constexpr std::size_t most_of_a_peer = 2;

  struct Kept {
    int peer = 0;
    node::Offset stage = node::nowhere;
    std::size_t bytes = 0;  // of the block
  };

  // Keeps a stage. The caller has to release the stage that is returned, unless that is nowhere.
  Kept keep(const Kept& stage) {
    std::size_t of_peer = 0, oldest_of_peer = count_;
    for (std::size_t i = count_; i-- != 0;) {
      if (kept_[i].peer != stage.peer) continue;
      ++of_peer;
      oldest_of_peer = i;
    }
    Kept released;
    if (of_peer == most_of_a_peer)
      released = remove(oldest_of_peer);
    else if (count_ == most)
      released = remove(0);
    kept_[count_++] = stage;
    return released;
  }
  // Takes the newest stage of that peer with this size, or nowhere.
  Kept take(int peer, std::size_t bytes) {
    for (std::size_t i = count_; i-- != 0;)
      if (kept_[i].peer == peer && kept_[i].bytes == bytes) return remove(i);
    return {};
  }
  // Takes any stage, or nowhere.
  Kept take() { return count_ != 0 ? remove(0) : Kept{}; }
  // The bytes of the node's memory that it keeps.
  std::size_t node_memory() const {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i != count_; ++i) bytes += kept_[i].bytes;
    return bytes;
  }

 private:
  Kept remove(std::size_t i) {
    const Kept removed = kept_[i];
    for (--count_; i < count_; ++i) kept_[i] = kept_[i + 1];
    return removed;
  }

  std::array<Kept, most> kept_;  // the oldest first
  std::size_t count_ = 0;
};

}  // namespace heddle::message
