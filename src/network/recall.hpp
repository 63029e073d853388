// When to look after what has been left to be sent: soon where the program computes meanwhile, seldom where it comes back by itself.
//
// A look costs a program that talks all the time a switch of threads, and takes its work away from it; one that computes is waited for by its
// peers. Which of the two it is shows only afterwards. A look that finds what is left in the care of the program, or nothing, makes the next
// ones later, up to sixteen times; one that has something to do makes them as soon as they were at first.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace heddle::lln {

// What a look has found.
enum class Left : std::uint8_t {
  nothing,
  gone,     // nothing, and some that waited has been sent by others since the last look: there will be more
  in_use,   // something, and some that waited has been sent by others since the last look
  sent,     // something, which has been sent now
  refused,  // something that the network does not take
  called    // the thread that sends everything has been called
};

class Recall {
 public:
  static constexpr std::int64_t soonest = 50'000;  // nanoseconds: longer than a burst of sends takes to its next wait
  static constexpr std::int64_t latest = 16 * soonest;
  // So often in a row who looks sends nothing because the program is in use: it need not be that VNI that is.
  static constexpr int most_in_use = 8;

  // Any thread: after what time what is left now is to be looked at.
  std::int64_t after() const { return after_.load(std::memory_order_relaxed); }

  // The thread that looks. Whether it is to send although the program is in use.
  bool sends_anyway() const { return in_use_ >= most_in_use; }
  // It has found that; after what time it looks again, 0: not before something is left anew.
  std::int64_t looked(Left left) {
    if (left == Left::in_use) {
      if (in_use_ != 0) later();  // the first time it may have been the program's last call for long
      in_use_ = std::min(in_use_ + 1, most_in_use);
      return after();
    }
    in_use_ = 0;
    if (left == Left::sent || left == Left::called) {
      after_.store(soonest, std::memory_order_relaxed);
      return left == Left::sent ? soonest : 0;
    }
    later();
    return left == Left::refused || left == Left::gone ? after() : 0;
  }

 private:
  void later() { after_.store(std::min(2 * after(), latest), std::memory_order_relaxed); }

  std::atomic<std::int64_t> after_{soonest};
  int in_use_ = 0;  // looks in a row
};

}  // namespace heddle::lln
