// The stages by which a rank has sent, kept for what it receives from the same peers next: the peer, who writes to such a stage then, has
// just read it, so its lines are in the cache of the peer's core and each crosses once (docs/adr/0079).
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
    std::size_t bytes = 0;  // of its block
  };

  // What is to be released for it; a stage nowhere: nothing.
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
  // The newest of that peer's of so many bytes, or nowhere.
  Kept take(int peer, std::size_t bytes) {
    for (std::size_t i = count_; i-- != 0;)
      if (kept_[i].peer == peer && kept_[i].bytes == bytes) return remove(i);
    return {};
  }
  // Any, or nowhere.
  Kept take() { return count_ != 0 ? remove(0) : Kept{}; }

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
