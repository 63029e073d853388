// Whether a network keeps up with a sender: it is busy for some time after each packet, and what comes meanwhile may as well go together.
//
// The time is that of two posts, by the cheapest that was seen of late. So a network that takes a packet in a system call of four
// microseconds is sent what eight have brought, and one that takes it in a tenth of one hardly makes anything wait.
//
// Messages that come in bursts will do so again: soon after a packet of several the first of a burst may wait, too. Its last would wait in any
// case, and the burst is sent by one packet, not by two.
#pragma once

#include <algorithm>
#include <cstdint>

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
    apart_at_ = end + posts_between_bursts * cost.ticks();
  }
  // It carried several messages of the program's, or one.
  void carried(bool several) { in_bursts_ = several; }
  bool is_busy(std::uint64_t now) const { return now < free_at_; }
  // Whether more may be expected behind a message of the program's.
  bool more_follow(std::uint64_t now) const { return is_busy(now) || (in_bursts_ && now < apart_at_); }

 private:
  static constexpr std::uint64_t posts = 2;
  static constexpr std::uint64_t posts_between_bursts = 32;
  std::uint64_t free_at_ = 0;
  std::uint64_t apart_at_ = 0;  // a burst that begins later has nothing to do with the last packet
  bool in_bursts_ = false;
};

}  // namespace heddle::lln
