// Errand: a task that one thread sends another, one at a time, with a result.
//
// Source: ours. One word holds the current errand; the idle receiver sleeps on it, and so may the sender. So a switch
// between the two costs one system call.
//
// No wake-up is lost: each side sleeps only while the word has the value that it has just read, and the side that
// changes it wakes the other. Progress: a store and a wake-up.
//
// Memory orders: sending releases the sender's data, and the end of the errand releases the result; each side acquires
// that.
#pragma once

#include <cstdint>

#include "base/platform/platform.hpp"

namespace heddle::sync {

template <platform::Platform P>
class Errand {
  using order = platform::order;

 public:
  static constexpr std::uint32_t none = 0;

  // ---- One thread at a time, the sender.

  // Not `none`. Until it is done the receiver executes it, and there is no other errand.
  void send(std::uint32_t what) {
    word_.store(what, order::release);
    P::unpark(word_, 1, platform::Scope::process);
  }
  // Sleeps until it is done; result() then holds its result.
  void sleep_until_done(std::uint32_t what) {
    while (!done()) P::park(word_, what, platform::Scope::process);
  }
  bool done() const { return word_.load(order::acquire) == none; }
  bool result() const { return result_.get(); }

  // ---- The other thread. Sleeps until there is one.
  std::uint32_t await() {
    for (;;) {
      const std::uint32_t what = word_.load(order::acquire);
      if (what != none) return what;
      P::park(word_, none, platform::Scope::process);
    }
  }
  void end(bool result, bool sender_sleeps) {
    result_.set(result);
    word_.store(none, order::release);
    if (sender_sleeps) P::unpark(word_, 1, platform::Scope::process);
  }

 private:
  typename P::template atomic<std::uint32_t> word_{none};
  typename P::template plain<bool> result_{false};
};

}  // namespace heddle::sync
