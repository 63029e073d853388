// Detects a network that is slower than its sender: it is busy for some time after each packet, and messages that come
// meanwhile may as well share one.
//
// That time is twice the recent minimum cost of a post. So a network that takes a packet in a system call of four
// microseconds gets the messages of eight in one packet, and a network that takes it in a tenth of a microsecond hardly
// delays any.
//
// Messages that came in a burst will do so again: soon after a packet of several the first of a burst may wait, too.
// Its last would wait in any case, and the burst takes one packet, not two.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle::lln {

// For one network. With its VNI's lock held.
class PostCost {
 public:
  void note(std::uint64_t ticks) { cost_ = std::min(ticks, cost_ + cost_ / 16 + 1); }
  std::uint64_t ticks() const { return cost_; }

 private:
  std::uint64_t cost_ = 1000;  // at first; it adapts
};

// For one peer.
class Pace {
 public:
  // A post began and ended at these times.
  void posted(std::uint64_t begin, std::uint64_t end, PostCost& cost) {
    cost.note(end - begin);
    free_at_ = end + posts * cost.ticks();
    apart_at_ = end + posts_between_bursts * cost.ticks();
  }
  // The packet carried several messages of the program, or one.
  void carried(bool several) { in_bursts_ = several; }
  bool is_busy(std::uint64_t now) const { return now < free_at_; }
  // True if more messages are expected after one of the program's.
  bool more_follow(std::uint64_t now) const { return is_busy(now) || (in_bursts_ && now < apart_at_); }

 private:
  static constexpr std::uint64_t posts = 2;
  static constexpr std::uint64_t posts_between_bursts = 32;
  std::uint64_t free_at_ = 0;
  std::uint64_t apart_at_ = 0;  // a burst that begins later is unrelated to the last packet
  bool in_bursts_ = false;
};

}  // namespace heddle::lln
