// Whether a network keeps up with a sender: it is busy for some time after each packet, and what comes meanwhile may as well go together.
//
// The time is that of two posts, by the cheapest that was seen of late. So a network that takes a packet in a system call of four
// microseconds is sent what eight have brought, and one that takes it in a tenth of one hardly makes anything wait.
#pragma once

#include <algorithm>
#include <cstdint>

#include "instruments/ticks.hpp"

namespace heddle::lln {

// Of one network. Under the protection of its VNI.
class PostCost {
 public:
  void note(std::uint64_t ticks) { cost_ = std::min(ticks, cost_ + cost_ / 16 + 1); }
  std::uint64_t ticks() const { return cost_; }

 private:
  std::uint64_t cost_ = 1000;  // at first; it grows to what it is
};

// Of one peer.
class Pace {
 public:
  // A post has begun and ended then.
  void posted(std::uint64_t begin, std::uint64_t end, PostCost& cost) {
    cost.note(end - begin);
    free_at_ = end + posts * cost.ticks();
  }
  bool is_busy() const { return is_busy(instruments::ticks()); }
  bool is_busy(std::uint64_t now) const { return now < free_at_; }

 private:
  static constexpr std::uint64_t posts = 2;
  std::uint64_t free_at_ = 0;
};

}  // namespace heddle::lln
