// The delay before the library's thread sends messages that a program has left to be sent: short where the program
// computes meanwhile, long where it calls MPI again by itself.
//
// A check by that thread costs a communicating program a context switch, and takes its work away; a computing program
// keeps its peers waiting. The two can only be told apart afterwards. A check that finds messages which the program
// handles itself, or none, makes the next delays longer, up to sixteen times; a check that sends something resets the
// delay.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace heddle::lln {

// The result of a check.
enum class Left : std::uint8_t {
  nothing,
  gone,     // nothing is left, and other threads have sent messages since the last check: more will follow
  in_use,   // something is left, and other threads have sent messages since the last check
  sent,     // something was left, which has been sent now
  refused,  // something is left that the network does not take
  called    // the thread that sends everything has been woken
};

class Recall {
 public:
  static constexpr std::int64_t soonest = 50'000;  // nanoseconds: longer than from a burst of sends to the next wait
  static constexpr std::int64_t latest = 16 * soonest;
  // The most checks in a row that send nothing because the program is in use: another VNI may be the one in use.
  static constexpr int most_in_use = 8;

  // Any thread: the delay after which messages left now are checked.
  std::int64_t after() const { return after_.load(std::memory_order_relaxed); }

  // The checking thread: true if it is to send although the program is in use.
  bool sends_anyway() const { return in_use_ >= most_in_use; }
  // Takes the result of a check; returns the delay before the next one, 0: not before a message is left anew.
  std::int64_t checked(Left left) {
    if (left == Left::in_use) {
      if (in_use_ != 0) later();  // the first time: it may have been the program's last call for a long time
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
  int in_use_ = 0;  // checks in a row
};

}  // namespace heddle::lln
